/** The file that people are imported from (CSV, RFC 4180), and what an import answers. */

import * as v from 'valibot'
import { INPUTS } from '../limits/inputs.ts'
import { described, strictObject } from '../schema/schemas.ts'

/** Columns with a meaning; any other column is a custom attribute of its name. */
export const PEOPLE_COLUMNS = {
  email: 'who it is: rows are matched by it, without case; the one column that must be there',
  given_name: 'first name',
  family_name: 'last name',
  status: 'STAGED, ACTIVE, SUSPENDED or INACTIVE; ACTIVE for new people who have none',
  manager_email: 'e-mail address of a user in the file or already there; empty: nobody',
  groups:
    'names of groups with ; between, compared without case, made where there are none; others are left',
} as const
export type PeopleColumn = keyof typeof PEOPLE_COLUMNS

/** Largest file, in bytes. */
export const MAX_PEOPLE_BYTES: number = 256 * 1024 * 1024
/** Largest row, in bytes. */
export const MAX_ROW_BYTES: number = INPUTS.people_row.maxBytes
/** Most columns, and longest name of one. */
export const MAX_COLUMNS = 200
export const MAX_NAME_LENGTH = 255
/** How many findings are told one by one, and how many names of what an import does. */
export const MAX_TOLD = 20

/** Something that is wrong in a file. */
export const FileFinding = strictObject('FileFinding', {
  line: described(v.number(), 'Line of the file; 1 is the header'),
  column: described(v.nullable(v.string()), 'Name of the column, null for the whole line'),
  problem: described(v.string(), 'What is wrong and what to do'),
})
export type FileFinding = v.InferOutput<typeof FileFinding>

const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const first = <S extends v.GenericSchema>(schema: S, what: string) =>
  described(schema, `The first ${MAX_TOLD} ${what}`)

export const PeopleDifference = strictObject(
  'PeopleDifference',
  'What an import does, or would do. Nobody is removed for not being in the file',
  {
    dry_run: described(v.boolean(), 'True: nothing was stored'),
    rows: count,
    added: count,
    added_emails: first(v.array(v.string()), 'added people'),
    changed: count,
    changed_fields: described(
      v.record(v.string(), count),
      'Field to how many people it changes for',
    ),
    changed_people: first(
      v.array(v.strictObject({ email: v.string(), fields: v.array(v.string()) })),
      'changed people, with the fields that change',
    ),
    unchanged: count,
    groups_made: count,
    group_names: first(v.array(v.string()), 'groups that are made'),
    memberships_added: count,
    memberships_removed: count,
  },
)
export type PeopleDifference = v.InferOutput<typeof PeopleDifference>
