/** The schemas of one connector's payloads: the capability's own, widened where a connector may. */
import * as v from 'valibot'
import { type AnySchema, CAPABILITIES, type CapabilityName } from './capabilities.ts'
import { type Fields, flatSchema } from './settings.ts'

type ObjectSchema = { entries: v.ObjectEntries }

/** The schema of `request`: fields of the connector's own join the standard ones, never replace them. */
export function requestSchema(name: CapabilityName, extra: Fields = {}): AnySchema {
  const { input } = CAPABILITIES[name]
  if (Object.keys(extra).length === 0) return input
  const own = flatSchema(extra).entries
  return v.object({ ...own, ...(input as unknown as ObjectSchema).entries })
}

/** The schema of `response`; strict, so that drift is seen on day one. */
export function responseSchema(name: CapabilityName, extra: Fields = {}): AnySchema {
  const { output } = CAPABILITIES[name]
  if (Object.keys(extra).length === 0) return output
  const own = Object.fromEntries(
    Object.entries(flatSchema(extra).entries).map(([key, schema]) => [
      key,
      v.nullish(schema, null),
    ]),
  )
  return v.strictObject({ ...own, ...(output as unknown as ObjectSchema).entries })
}

/** Names of the fields of a capability's standard request and response, which no extra may take. */
export function standardFields(name: CapabilityName): Set<string> {
  const { input, output } = CAPABILITIES[name]
  const entries = [input, output].map(
    (schema) => (schema as unknown as Partial<ObjectSchema>).entries,
  )
  return new Set(entries.flatMap((one) => Object.keys(one ?? {})))
}

/** One finding: where, and what is wrong there. */
export function describeIssue(issue: v.BaseIssue<unknown>, prefix = ''): string {
  const path = [prefix, v.getDotPath(issue) ?? ''].filter((part) => part !== '').join('.')
  return path === '' ? wording(issue) : `${path}: ${wording(issue)}`
}

/** Findings as one sentence: `page.size: Expected >=1 but received 0; ...`, the first ten of them. */
export function describeIssues(issues: readonly v.BaseIssue<unknown>[], prefix = ''): string {
  const lines = issues.slice(0, 10).map((issue) => describeIssue(issue, prefix))
  const more = issues.length > 10 ? `; and ${issues.length - 10} more` : ''
  return lines.join('; ') + more
}

/** valibot says "Invalid key: Expected "x" but received undefined" where people say "missing". */
function wording({ type, expected, received, message }: v.BaseIssue<unknown>): string {
  const ofObject = type === 'object' || type === 'strict_object'
  if (ofObject && received === 'undefined') return 'missing'
  if (type === 'strict_object' && expected === 'never') return 'there is no such field'
  return message.includes('received') ? message : `${message} (found ${received})`
}
