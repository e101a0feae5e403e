/** What was filled in on a page, judged by the schema of the endpoint that does the same. */
import * as v from 'valibot'
import { CoreError } from '../../contract/errors/problem.ts'
import { isKeyOf } from '../../contract/schema/keys.ts'
import { placeOfIssue } from '../../contract/schema/place.ts'

/** BOUNDS: what an issue is of -> which bound that is. */
const BOUNDS = { min_value: 'least', max_value: 'most', max_length: 'longest' } as const

type FaultKind = 'bad_request' | 'invalid'

/** A value that its schema refuses. */
export class FieldFault extends CoreError {
  /** The path to the value, the outermost name first; one of them may be a field of the page. */
  readonly names: readonly string[]
  /** What the schema says of it in words of its own; null where it only says that it does not fit. */
  readonly why: string | null
  /** The bound that the value exceeds, if that is why. */
  readonly bound: { kind: 'least' | 'most' | 'longest'; at: number } | null

  constructor(kind: FaultKind, issue: v.BaseIssue<unknown>) {
    super(kind, `${placeOfIssue(issue).replaceAll('_', ' ')}: ${issue.message}`)
    this.names = (issue.path ?? []).map(({ key }) => String(key))
    const { type, requirement: at } = issue
    this.bound = isKeyOf(BOUNDS, type) && typeof at === 'number' ? { kind: BOUNDS[type], at } : null
    // For a list, the bound is on its members, not on characters.
    if (this.bound?.kind === 'longest' && Array.isArray(issue.input)) this.bound.kind = 'most'
    this.why = /^Invalid /.test(issue.message) ? null : issue.message
  }
}

/** @throws FieldFault that says which field is wrong, and why */
export function filledIn<const S extends v.GenericSchema>(
  schema: S,
  given: Record<string, unknown>,
  kind: FaultKind = 'bad_request',
): v.InferOutput<S> {
  const parsed = v.safeParse(schema, given)
  if (parsed.success) return parsed.output
  throw new FieldFault(kind, parsed.issues[0])
}
