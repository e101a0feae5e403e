/** Tables: rows as one list for each of their members. */
import { expect, test } from 'vitest'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import { columnOf, rowsOfTable, tableOfRows } from '../../runtime/contract/schema/table.ts'
import { readTable } from '../../runtime/protocol/tables.ts'
import { thrownBy } from '../egress/fixtures/open-egress.ts'

const rowsOf = (table: unknown, maxChars: number) => rowsOfTable(readTable(table, maxChars))

const LIMIT = 4096

test('a table returns its rows, with repeated values filled in', () => {
  expect(rowsOf({ a: ['x', 'y', 0], b: ['', 0, 0] }, LIMIT)).toEqual([
    { a: 'x', b: '' },
    { a: 'y', b: '' },
    { a: 'y', b: '' },
  ])
  expect(rowsOf({ a: [], b: [] }, LIMIT)).toEqual([])
})

test.each([
  ['lists of different lengths', { a: ['x'], b: [] }],
  ['no lists', { a: 'x' }],
  ['rows', []],
  ['null', null],
  ['a list and an array-like object', { a: ['x'], b: { length: 1 } }],
  ['a repetition in the first row', { a: [0, 'x'] }],
  ['a repetition of an object', { a: [{ b: 'x' }, 0] }],
])('%s are refused as a table', async (_what, table) => {
  const error = await thrownBy(() => rowsOf(table, LIMIT))
  expect(error).toBeInstanceOf(RuntimeError)
  expect(error.code).toBe('reply_invalid')
})

test('a repeated value counts towards the limit each time', async () => {
  const text = 'x'.repeat(LIMIT / 4)
  expect(rowsOf({ a: [text, 0, 0, 0, 0] }, LIMIT)).toHaveLength(5)
  const error = await thrownBy(() => rowsOf({ a: [text, 0, 0, 0], b: ['', text, 0, 0] }, LIMIT))
  expect(error).toMatchObject({
    code: 'reply_too_large',
    message: expect.stringMatching(/smaller/),
  })
})

test('a column is read as a list, and an unknown column is refused', () => {
  const table = readTable({ a: ['x', 0], b: ['y', 'z'] }, LIMIT)
  expect(columnOf(table, 'a')).toEqual(['x', 'x'])
  expect(() => columnOf(table, 'c')).toThrow(new TypeError('no row has c'))
  expect(columnOf(readTable({}, LIMIT), 'c')).toEqual([])
})

test('rows become a table of the named members, and rows again', () => {
  const rows: { a: number; b?: string; c?: string }[] = [{ a: 1 }, { a: 2, b: 'x' }]
  const table = tableOfRows([...rows, { a: 3, c: 'y' }], ['a', 'b'])
  expect(table).toEqual({ count: 3, columns: { a: [1, 2, 3], b: [undefined, 'x', undefined] } })
  expect(rowsOfTable(table)).toEqual([...rows, { a: 3 }])
  expect(rowsOfTable(tableOfRows([], ['a']))).toEqual([])
})
