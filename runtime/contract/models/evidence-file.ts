/** A file of evidence as a response. */
import * as v from 'valibot'

export const EvidenceFile = v.pipe(
  v.string(),
  v.metadata({
    title: 'Evidence',
    description: 'JSON lines, described in /docs/reference/evidence',
  }),
)
