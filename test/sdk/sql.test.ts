import { expect, test } from 'vitest'
import { openPage } from '../../runtime/sdk/paging.ts'
import { nameOf, rowsPage } from '../../runtime/sdk/sdk.ts'

const rows = [{ name: 'a' }, { name: 'b' }]
const names = (size: number) =>
  openPage(
    rowsPage(
      rows,
      size,
      (row) => nameOf(row, 'name'),
      (last) => nameOf(last, 'name'),
    ),
  )

test('a full page of rows goes on behind its last row, and one that is not full is the last', () => {
  expect(names(2)).toEqual({ items: ['a', 'b'], cursor: 'b' })
  expect(names(3)).toEqual({ items: ['a', 'b'], cursor: null })
})

test.each([{ name: null }, { other: 'a' }])('a name that is not there is told: %j', (row) => {
  expect(() => nameOf(row, 'name')).toThrow(/The (column name is null|row has no column name)/)
})
