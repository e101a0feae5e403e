/** Tables: rows as one list for each of their members. */
import { expect, test } from 'vitest'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import { rowsOf } from '../../runtime/protocol/tables.ts'
import { thrownBy } from '../egress/fixtures/door.ts'

test('a table gives its rows, with what is the same as before', () => {
  expect(rowsOf({ a: ['x', 'y', 0], b: ['', 0, 0] })).toEqual([
    { a: 'x', b: '' },
    { a: 'y', b: '' },
    { a: 'y', b: '' },
  ])
  expect(rowsOf({ a: [], b: [] })).toEqual([])
})

test.each([
  ['lists of different lengths', { a: ['x'], b: [] }],
  ['no lists', { a: 'x' }],
  ['a list and none', { a: ['x'], b: { length: 1 } }],
])('%s are no table', async (_what, table) => {
  const error = await thrownBy(() => rowsOf(table))
  expect(error).toBeInstanceOf(RuntimeError)
  expect(error.code).toBe('reply_invalid')
})
