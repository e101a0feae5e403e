/** What operators do with all that is held of a person: rows of OPERATOR_ENDPOINTS. */
import * as v from 'valibot'
import { described, strictObject } from '../schema/schemas.ts'
import { row } from './operator-row.ts'

const Person = v.strictObject({ id: v.string(), email: v.string() })

export const PersonExport = strictObject('PersonExport', 'All that is held of a person', {
  person: Person,
  tables: described(
    v.record(v.string(), v.array(v.record(v.string(), v.unknown()))),
    'By table, the rows that refer to the person; nothing sealed or hashed',
  ),
  cut: described(v.array(v.string()), 'Tables with more than the 5,000 rows that are shown'),
})
export type PersonExport = v.InferOutput<typeof PersonExport>

export const PersonErased = strictObject('PersonErased', 'What became of the record of a person', {
  changed: described(v.boolean(), 'False for a dry run'),
  person: described(Person, 'As they were known until then'),
  erased: described(
    v.array(v.strictObject({ what: v.string(), count: v.number() })),
    'What is erased, with how many rows have it',
  ),
  kept: described(v.array(v.strictObject({ what: v.string(), why: v.string() })), 'What stays'),
})
export type PersonErased = v.InferOutput<typeof PersonErased>

/** In the body and not in the address, which proxies write down. */
const email = described(
  v.pipe(v.string(), v.minLength(1), v.maxLength(320)),
  'E-mail address of the person',
)

export const PERSONAL_DATA_ENDPOINTS = {
  export_person: row.post('/people/export', {
    summary: 'Give out all that is held of a person; it is recorded',
    body: v.object({ email }),
    output: PersonExport,
    errors: [404, 413, 415, 422],
  }),
  erase_person: row.post('/people/erase', {
    summary: 'Erase a person who holds no access from the record; the activity log still verifies',
    body: v.object({
      email,
      dry_run: described(
        v.optional(v.boolean(), false),
        'Only say what would be erased, and what stays and why',
      ),
    }),
    output: PersonErased,
    errors: [404, 409, 413, 415, 422],
  }),
} as const
