/** Export and erasure of a person's data by operators: rows of OPERATOR_ENDPOINTS. */
import * as v from 'valibot'
import { described, strictObject } from '../schema/schemas.ts'
import { row } from './operator-row.ts'

const Person = v.strictObject({ id: v.string(), email: v.string() })

export const PersonExport = strictObject('PersonExport', 'All stored data of a person', {
  person: Person,
  tables: described(
    v.record(v.string(), v.array(v.record(v.string(), v.unknown()))),
    'Rows that refer to the person, by table; without sealed or hashed values',
  ),
  cut: described(v.array(v.string()), 'Tables with more rows than the 5,000 shown'),
})
export type PersonExport = v.InferOutput<typeof PersonExport>

export const PersonErased = strictObject('PersonErased', 'Result of erasing a person', {
  changed: described(v.boolean(), 'False for a dry run'),
  person: described(Person, 'The person, as known before'),
  erased: described(
    v.array(v.strictObject({ what: v.string(), count: v.number() })),
    'Erased data, with the number of rows',
  ),
  kept: described(
    v.array(v.strictObject({ what: v.string(), why: v.string() })),
    'Data that is kept',
  ),
})
export type PersonErased = v.InferOutput<typeof PersonErased>

/** In the body rather than the URL, because proxies log URLs. */
const email = described(
  v.pipe(v.string(), v.minLength(1), v.maxLength(320)),
  'E-mail address of the person',
)

export const PERSONAL_DATA_ENDPOINTS = {
  export_person: row.post('/people/export', {
    summary: 'Export all stored data of a person; the export is recorded',
    body: v.object({ email }),
    output: PersonExport,
    errors: [404, 413, 415, 422],
  }),
  erase_person: row.post('/people/erase', {
    summary:
      'Erase the stored data of a person who holds no access; the activity log still verifies',
    body: v.object({
      email,
      dry_run: described(
        v.optional(v.boolean(), false),
        'Only report what would be erased, and what is kept and why',
      ),
    }),
    output: PersonErased,
    errors: [404, 409, 413, 415, 422],
  }),
} as const
