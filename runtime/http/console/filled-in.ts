/** What was filled in on a page, judged by the schema of the endpoint that does the same. */
import * as v from 'valibot'
import { badRequest } from '../../contract/errors/problem.ts'

/** @throws CoreError bad_request that says which field is wrong, and why */
export function filledIn<const S extends v.GenericSchema>(
  schema: S,
  given: Record<string, unknown>,
): v.InferOutput<S> {
  const parsed = v.safeParse(schema, given)
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  const name = (issue.path ?? []).map(({ key }) => String(key)).join(' ')
  throw badRequest(`${name.replaceAll('_', ' ')}: ${issue.message}`)
}
