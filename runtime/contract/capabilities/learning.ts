/** Capabilities that describe the tenant. They are called before any other. */
import * as v from 'valibot'
import { CustomAttributeSchema } from '../models/account.ts'
import { described } from '../schema/schemas.ts'
import { capabilities, nothing } from './row.ts'

const read = capabilities({ group: 'Read', level: 'read' })
const learning = capabilities({ group: 'Learning', level: 'read' })

export const LEARNING = {
  validate_credentials: read({
    summary: 'Check the credentials and read the tenant’s id',
    input: nothing,
    output: v.strictObject({
      valid: v.boolean(),
      unique_tenant_id: described(v.string(), 'Never changes for a tenant'),
    }),
  }),
  list_custom_attributes_schema: learning({
    summary: 'List the custom attributes that may be requested',
    input: nothing,
    output: v.array(CustomAttributeSchema),
  }),
} as const
