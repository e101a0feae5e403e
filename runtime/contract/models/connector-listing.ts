/** A row of the list of connectors. */
import * as v from 'valibot'

export const ConnectorListing = v.pipe(
  v.object({
    id: v.nullable(v.string()),
    version: v.nullable(v.string()),
    digest: v.nullable(v.string()),
    source: v.picklist(['built-in', 'drop-in', 'installed']),
    state: v.picklist(['checking', 'ready', 'ghost', 'suspect', 'quarantined', 'disabled']),
    reason: v.nullable(v.pipe(v.string(), v.metadata({ description: 'Why it is in this state' }))),
    serving: v.boolean(),
    folder: v.nullable(
      v.pipe(v.string(), v.metadata({ description: 'Where it lies; null for what is installed' })),
    ),
  }),
  v.metadata({ title: 'ConnectorListing', description: 'A connector, served or not' }),
)
export type ConnectorListing = v.InferOutput<typeof ConnectorListing>
