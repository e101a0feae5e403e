/** The file that people are imported from (CSV, RFC 4180), and the result of an import. */

import * as v from 'valibot'
import { INPUTS } from '../limits/inputs.ts'
import { described, strictObject } from '../schema/schemas.ts'

/** Columns with a meaning. Any other column is a custom attribute of that name. */
export const PEOPLE_COLUMNS = {
  email: 'identifies the person: rows are matched by it, ignoring case; the only required column',
  given_name: 'first name',
  family_name: 'last name',
  status: 'STAGED, ACTIVE, SUSPENDED or INACTIVE; default for new people: ACTIVE',
  manager_email: 'e-mail address of a user in the file or an existing user; empty: none',
  groups:
    'names of groups separated by ;, ignoring case; missing groups are created, and the person leaves all other native groups',
} as const
export type PeopleColumn = keyof typeof PEOPLE_COLUMNS

/** Maximum size of a file, in bytes. */
export const MAX_PEOPLE_BYTES: number = 256 * 1024 * 1024
/** Maximum size of a row, in bytes. */
export const MAX_ROW_BYTES: number = INPUTS.people_row.maxBytes
/** Maximum number of columns, and maximum length of a column name. */
export const MAX_COLUMNS = 200
export const MAX_NAME_LENGTH = 255
/** Maximum number of findings listed individually, and of names in a result. */
export const MAX_TOLD = 20

/** An error in a file. */
export const FileFinding = strictObject('FileFinding', {
  line: described(v.number(), 'Line of the file; the header is line 1'),
  column: described(v.nullable(v.string()), 'Name of the column; null for the whole line'),
  problem: described(v.string(), 'The problem and its solution'),
})
export type FileFinding = v.InferOutput<typeof FileFinding>

const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const first = <S extends v.GenericSchema>(schema: S, what: string) =>
  described(schema, `The first ${MAX_TOLD} ${what}`)

export const PeopleDifference = strictObject(
  'PeopleDifference',
  'Changes that an import makes, or would make. People missing from the file are not removed',
  {
    dry_run: described(v.boolean(), 'True: nothing was stored'),
    rows: count,
    added: count,
    added_emails: first(v.array(v.string()), 'added people'),
    changed: count,
    changed_fields: described(
      v.record(v.string(), count),
      'Field -> number of people whose value changes',
    ),
    changed_people: first(
      v.array(v.strictObject({ email: v.string(), fields: v.array(v.string()) })),
      'changed people, with the fields that change',
    ),
    unchanged: count,
    groups_made: count,
    group_names: first(v.array(v.string()), 'groups that are created'),
    memberships_added: count,
    memberships_removed: count,
  },
)
export type PeopleDifference = v.InferOutput<typeof PeopleDifference>
