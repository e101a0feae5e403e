/** Validates the input of a page by the schema of the corresponding endpoint. */
import * as v from 'valibot'
import { CoreError } from '../../contract/errors/problem.ts'
import { isKeyOf } from '../../contract/schema/keys.ts'
import { placeOfIssue } from '../../contract/schema/place.ts'

/** BOUNDS: type of an issue -> kind of bound. */
const BOUNDS = { min_value: 'least', max_value: 'most', max_length: 'longest' } as const

type FaultKind = 'bad_request' | 'invalid'

/** A value that its schema refuses. */
export class FieldFault extends CoreError {
  /** Path of the value, outermost name first. One of the names may be a field of the page. */
  readonly names: readonly string[]
  /** The schema's own message; null if it has only a generic one. */
  readonly why: string | null
  /** The bound that was exceeded, if that is the reason. */
  readonly bound: { kind: 'least' | 'most' | 'longest'; at: number } | null

  constructor(kind: FaultKind, issue: v.BaseIssue<unknown>) {
    super(kind, `${placeOfIssue(issue).replaceAll('_', ' ')}: ${issue.message}`)
    this.names = (issue.path ?? []).map(({ key }) => String(key))
    const { type, requirement: at } = issue
    this.bound = isKeyOf(BOUNDS, type) && typeof at === 'number' ? { kind: BOUNDS[type], at } : null
    // For a list, the bound applies to its members, not to characters.
    if (this.bound?.kind === 'longest' && Array.isArray(issue.input)) this.bound.kind = 'most'
    this.why = /^Invalid /.test(issue.message) ? null : issue.message
  }
}

/** Parses input by a schema. @throws FieldFault with the invalid field and the reason */
export function filledIn<const S extends v.GenericSchema>(
  schema: S,
  given: Record<string, unknown>,
  kind: FaultKind = 'bad_request',
): v.InferOutput<S> {
  const parsed = v.safeParse(schema, given)
  if (parsed.success) return parsed.output
  throw new FieldFault(kind, parsed.issues[0])
}
