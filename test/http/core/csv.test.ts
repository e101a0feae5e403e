/** CSV cells that spreadsheets do not run as formulas, and content negotiation for CSV. */
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cell, line, wantsCsv } from '../../../runtime/http/core/csv.ts'

test.each([
  ['plain', 'plain'],
  ['', ''],
  [null, ''],
  [undefined, ''],
  [7, '7'],
  [-7.5, '-7.5'],
  [true, 'true'],
  ['a,b', '"a,b"'],
  ['a "b"', '"a ""b"""'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', `"'=1+1"`],
  ['+49 30', `"'+49 30"`],
  ['-2', `"'-2"`],
  ['@SUM(A1)', `"'@SUM(A1)"`],
  ['\t=1', `"'\t=1"`],
  ['\r=1', `"'\r=1"`],
  ['\n=1', `"'\n=1"`],
  ['＝1', `"'＝1"`],
  ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
  ['a=b', 'a=b'],
  [['x', 'y'], '"[""x"",""y""]"'],
  [{ a: 1 }, '"{""a"":1}"'],
])('%j is the cell %j', (value, expected) => {
  expect(cell(value)).toBe(expected)
})

test('every text survives a CSV parser, unchanged or with a leading apostrophe', () => {
  const texts = fc.array(fc.string({ unit: 'binary' }), { minLength: 2, maxLength: 5 })
  fc.assert(
    fc.property(texts, (values) => {
      const [row = []] = parse(line(values), { record_delimiter: '\r\n' }) as string[][]
      expect(row.map((text, at) => (text === `'${values[at]}` ? values[at] : text))).toEqual(values)
      for (const text of row) expect(text).not.toMatch(/^[=+\-@\t\r\n]/)
    }),
  )
})

test.each([
  [undefined, false],
  ['*/*', false],
  ['text/*', false],
  ['application/json', false],
  ['text/csv', true],
  ['TEXT/CSV; header=present', true],
  ['application/json, text/csv', true],
  ['application/json, text/csv;q=0.5', false],
  ['application/json;q=0.1, text/csv;q=0.5', true],
  ['text/csv;q=0', false],
])('Accept %s asks for CSV: %s', (accept, expected) => {
  expect(wantsCsv(accept)).toBe(expected)
})
