/** A file of evidence, as an answer. */
import * as v from 'valibot'

export const EvidenceFile = v.pipe(
  v.string(),
  v.metadata({
    title: 'Evidence',
    description: 'JSON lines; /docs/reference/evidence says what each is',
  }),
)
