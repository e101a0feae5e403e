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

test('a full page of rows continues after its last row, and a short page is the last one', () => {
  expect(names(2)).toEqual({ items: ['a', 'b'], cursor: 'b' })
  expect(names(3)).toEqual({ items: ['a', 'b'], cursor: null })
})

test.each([{ name: null }, { other: 'a' }])('a missing name is reported: %j', (row) => {
  expect(() => nameOf(row, 'name')).toThrow(/The (column name is null|row has no column name)/)
})
