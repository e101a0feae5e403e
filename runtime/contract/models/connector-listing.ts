/** Row of the list of connectors. */
import * as v from 'valibot'
import { described, object } from '../schema/schemas.ts'

export const ConnectorListing = object('ConnectorListing', 'A connector, served or not', {
  id: v.nullable(v.string()),
  version: v.nullable(v.string()),
  digest: v.nullable(v.string()),
  source: v.picklist(['built-in', 'drop-in', 'installed']),
  state: v.picklist(['checking', 'ready', 'ghost', 'suspect', 'quarantined', 'disabled']),
  reason: v.nullable(described(v.string(), 'Why it is in this state')),
  serving: v.boolean(),
  folder: v.nullable(described(v.string(), 'Its folder; null for an installed connector')),
})
export type ConnectorListing = v.InferOutput<typeof ConnectorListing>
