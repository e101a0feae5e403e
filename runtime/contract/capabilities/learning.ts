/** LEARNING: what a connector says of the tenant before anything else is asked. */
import * as v from 'valibot'
import { CustomAttributeSchema } from '../models/account.ts'
import { described } from '../schema/schemas.ts'
import { capabilities, nothing } from './row.ts'

const read = capabilities({ group: 'Read', level: 'read' })
const learning = capabilities({ group: 'Learning', level: 'read' })

export const LEARNING = {
  validate_credentials: read({
    summary: 'Check the credentials and learn the tenant’s id',
    input: nothing,
    output: v.strictObject({
      valid: v.boolean(),
      unique_tenant_id: described(v.string(), 'Stable for the tenant’s life'),
    }),
  }),
  list_custom_attributes_schema: learning({
    summary: 'List the custom attributes that may be asked for',
    input: nothing,
    output: v.array(CustomAttributeSchema),
  }),
} as const
