/** Puts the shared parts of a file of cases into one of its cases, before the case is judged. */

import type { CaseDefaults } from '../contract/connector/cases.ts'
import { isObject, membersOf } from '../contract/schema/record.ts'

/** Parts shared by the cases of a file. */
export type Shared = { defaults?: CaseDefaults; exchanges?: Record<string, unknown> }

type Members = Record<string, unknown>

/** Maximum number of exchange names that an error lists. */
const MAX_NAMES = 20

/** Members of a case that may have defaults. */
const OWN = ['settings', 'page', 'include_raw_data'] as const

/**
 * Returns the case with all shared parts filled in. A value that is not an object is returned unchanged, to
 * be judged as it is.
 */
export function expandCase(
  written: unknown,
  { defaults = {}, exchanges = {} }: Shared,
): { value: unknown; findings: string[] } {
  if (!isObject(written)) return { value: written, findings: [] }
  const findings: string[] = []
  const exchangeOf = (one: unknown): unknown => {
    const named = typeof one === 'string'
    if (named && !Object.hasOwn(exchanges, one)) {
      const known = Object.keys(exchanges)
      findings.push(
        `upstream: there is no exchange ${JSON.stringify(one)}; \`exchanges\` has ${known.slice(0, MAX_NAMES).join(', ') || 'none'}`,
      )
      return NOTHING
    }
    return withDefaults(named ? exchanges[one] : one, defaults.upstream ?? {})
  }
  const step = (one: unknown): unknown =>
    isObject(one) && Array.isArray(one['upstream'])
      ? { ...one, upstream: one['upstream'].map(exchangeOf) }
      : one
  const { auth, credentials } = defaults
  const signed = 'auth' in written || 'credentials' in written ? {} : { auth, credentials }
  const own = Object.fromEntries(OWN.map((name) => [name, defaults[name]]))
  const all: Members = { ...signed, ...own, ...membersOf(step(written)) }
  const { pages } = all
  if (Array.isArray(pages)) Object.assign(all, { pages: pages.map(step) })
  return { value: withoutNone(all), findings }
}

/** Placeholder for an exchange that does not exist, so that it causes no further findings. */
const NOTHING = { request: 'GET /', reply: { status: 200 } }

function withDefaults(
  exchange: unknown,
  { headers, reply: shared }: NonNullable<CaseDefaults['upstream']>,
): unknown {
  if (!isObject(exchange) || !isObject(exchange['reply'])) return exchange
  const reply = { ...present({ ...shared }), ...exchange['reply'] }
  return { ...present({ headers }), ...exchange, reply }
}

/** Removes null members: null in a case rejects the default. */
const withoutNone = (one: Members): Members =>
  Object.fromEntries(
    Object.entries(one).filter(
      ([name, value]) =>
        value !== undefined && !(value === null && [...OWN, 'auth', 'credentials'].includes(name)),
    ),
  )

/** Returns the members that have a value. */
export const present = (one: Members): Members =>
  Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined))
