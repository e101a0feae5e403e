/** Objects with a title, under which the reference, OpenAPI and the SDK have them. */
import * as v from 'valibot'

type Titled<E> = [title: string, entries: E] | [title: string, description: string, entries: E]

/** Members that are not among the entries are ignored. */
export function object<const E extends v.ObjectEntries>(...given: Titled<E>) {
  const { metadata, entries } = read(given)
  return v.pipe(v.object(entries), v.metadata(metadata))
}

/** Members that are not among the entries are refused. */
export function strictObject<const E extends v.ObjectEntries>(...given: Titled<E>) {
  const { metadata, entries } = read(given)
  return v.pipe(v.strictObject(entries), v.metadata(metadata))
}

const read = <E>(
  given: Titled<E>,
): { metadata: { title: string; description?: string }; entries: E } => {
  if (given.length === 2) return { metadata: { title: given[0] }, entries: given[1] }
  return { metadata: { title: given[0], description: given[1] }, entries: given[2] }
}
