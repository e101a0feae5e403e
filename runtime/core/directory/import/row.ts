/** Converts a row of the file from cells to the staged form. */

import { MAX_NAME_LENGTH } from '../../../contract/models/people-file.ts'
import { USER_STATUSES } from '../../../contract/models/person.ts'
import { isOneOf } from '../../../contract/schema/one-of.ts'
import { isEmail } from '../email.ts'
import { type Findings, shown } from './findings.ts'
import type { Header } from './header.ts'
import type { FileRow } from './records.ts'

/** Row for the temporary table. Null stands for a column that the file does not have. */
export type StagedRow = {
  line: number
  email: string
  given_name: string | null
  family_name: string | null
  status: string | null
  manager_email: string | null
  groups: string[] | null
  /** Attribute name -> { type, value }, as on the wire. */
  attributes: Record<string, { type: string; value: string }>
}

/** Maximum length of a cell, in characters. */
const MAX_CELL_LENGTH = 10_000

/**
 * Parses a row. Null if the row has no valid address. With other errors, the row is still compared with the
 * others. A cell is plain text: a formula is stored unchanged.
 */
export function readRow(
  { line, cells }: FileRow,
  header: Header,
  findings: Findings,
): StagedRow | null {
  const { known, names } = header
  const cell = (column: keyof typeof known): string | null => {
    const at = known[column]
    return at === undefined ? null : (cells[at] ?? '').trim()
  }
  const before = findings.total
  if (cells.length !== names.length)
    findings.add(
      line,
      null,
      `has ${cells.length} cells, the header has ${names.length}; ${advice(cells.length - names.length)}`,
    )
  for (const [at, text] of cells.entries()) {
    const problem = problemOf(text)
    if (problem) findings.add(line, names[at] ?? null, problem)
  }
  const email = cell('email') ?? ''
  const whose = isEmail(email)
  if (!whose)
    findings.add(
      line,
      'email',
      email === '' ? 'is empty; every row needs one' : `${shown(email)} is not an e-mail address`,
    )
  const status = cell('status')?.toUpperCase() ?? null
  if (status && !isOneOf(USER_STATUSES, status))
    findings.add(line, 'status', `${shown(status)} is not one of ${USER_STATUSES.join(', ')}`)
  const groups = groupsOf(cell('groups'))
  const long = groups?.find((name) => name.length > MAX_NAME_LENGTH)
  if (long)
    findings.add(line, 'groups', `${shown(long)} is longer than ${MAX_NAME_LENGTH} characters`)
  if (!whose) return null
  const bare = {
    line,
    email,
    given_name: null,
    family_name: null,
    status: null,
    manager_email: null,
    groups: null,
    attributes: {},
  }
  // A row with errors is not imported, but it counts as present if other rows refer to it.
  if (findings.total > before) return bare
  return {
    ...bare,
    given_name: cell('given_name'),
    family_name: cell('family_name'),
    status: status || null,
    manager_email: cell('manager_email'),
    groups,
    attributes: Object.fromEntries(
      header.attributes.map(({ name, at }) => [name, { type: 'TEXT', value: cells[at] ?? '' }]),
    ),
  }
}

function advice(over: number): string {
  return over > 0
    ? 'put cells that contain a comma in quotes'
    : 'write an empty cell for each missing value'
}

function problemOf(text: string): string | null {
  if (text.includes('\u0000')) return 'contains the character NUL; remove it'
  return text.length > MAX_CELL_LENGTH
    ? `has ${text.length} characters; at most ${MAX_CELL_LENGTH} are allowed`
    : null
}

/** Returns the distinct names of groups. */
function groupsOf(cell: string | null): string[] | null {
  if (cell === null) return null
  const names = cell.split(';').map((name) => name.trim())
  return [...new Set(names.filter((name) => name !== ''))]
}
