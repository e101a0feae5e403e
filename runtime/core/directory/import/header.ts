/** Parses the first row, which names the columns. */
import {
  MAX_COLUMNS,
  MAX_NAME_LENGTH,
  PEOPLE_COLUMNS,
  type PeopleColumn,
} from '../../../contract/models/people-file.ts'
import { type Findings, shown } from './findings.ts'

export type Header = {
  /** Column names as they appear in errors. */
  names: string[]
  /** Known column -> its index. The values of a missing column are not changed. */
  known: Partial<Record<PeopleColumn, number>>
  /** Name and index of each custom attribute. */
  attributes: { name: string; at: number }[]
}

/** Names with a special meaning in JavaScript objects, here or where the record is read. */
const RESERVED = ['__proto__', 'constructor', 'prototype']

const isKnown = (name: string): name is PeopleColumn => Object.hasOwn(PEOPLE_COLUMNS, name)

/** Parses the header. Its errors are added to the findings. */
export function readHeader(cells: string[], line: number, findings: Findings): Header {
  const header: Header = { names: [], known: {}, attributes: [] }
  if (cells.length > MAX_COLUMNS) {
    findings.add(line, null, `has ${cells.length} columns; at most ${MAX_COLUMNS} are allowed`)
    return header
  }
  const seen = new Set<string>()
  for (const [at, cell] of cells.entries()) {
    const given = cell.trim()
    // Known columns are matched without case: `Email` is not meant as an attribute.
    const name = isKnown(given.toLowerCase()) ? given.toLowerCase() : given
    const problem = problemOf(name, seen)
    header.names.push(name)
    if (problem) findings.add(line, given === '' ? `column ${at + 1}` : shown(given), problem)
    else if (isKnown(name)) header.known[name] = at
    else header.attributes.push({ name, at })
    seen.add(name)
  }
  if (!seen.has('email')) findings.add(line, 'email', noEmail(cells))
  return header
}

function problemOf(name: string, seen: Set<string>): string | null {
  if (name === '') return 'has no name; name the column or remove it'
  if (seen.has(name)) return 'appears twice; keep one of the columns'
  if (RESERVED.includes(name)) return 'is a reserved name; rename the column'
  if (name.length > MAX_NAME_LENGTH) return `is longer than ${MAX_NAME_LENGTH} characters`
  return name.includes('\u0000') ? 'contains the character NUL; remove it' : null
}

function noEmail(cells: string[]): string {
  const [only = ''] = cells
  const other = [';', '\t', '|'].find((sign) => cells.length === 1 && only.includes(sign))
  return other
    ? `is missing: the cells appear to be separated by ${shown(other)}; save the file with commas`
    : 'is missing; the first line must name the columns, including email'
}
