/** Rules of separation of duties, without the database: what breaks one, and the effect on a request. */
import { ON_REQUEST_NAMES, type OnRequest } from '../../contract/models/separation.ts'

/** App or permission that a person can hold, as text: `app ID` or `permission ID`. */
export type Thing = `app ${string}` | `permission ${string}`

type Side = { apps: readonly string[]; permissions: readonly string[] }
/** Both sides of a rule. */
export type RuleSides = { id: string; left: Side; right: Side }

/** Returns the thing for an app. */
export const appThing = (id: string): Thing => `app ${id}`
/** Returns the thing for a permission. */
export const permissionThing = (id: string): Thing => `permission ${id}`

/** Returns the things of one side of a rule. */
export const thingsOf = ({ apps, permissions }: Side): Thing[] => [
  ...apps.map(appThing),
  ...permissions.map(permissionThing),
]

/** Held things on each side of a broken rule. */
export type Broken = { left: Thing[]; right: Thing[] }

/** Returns the held things on each side of a rule, or null if a side has none. */
export function broken(
  { left, right }: Omit<RuleSides, 'id'>,
  held: ReadonlySet<Thing>,
): Broken | null {
  const of = (side: Side) => thingsOf(side).filter((thing) => held.has(thing))
  const both = { left: of(left), right: of(right) }
  return both.left.length > 0 && both.right.length > 0 ? both : null
}

/**
 * Returns the held things that conflict with the requested ones, or null if the request would not break the
 * rule. A rule that is broken already is broken again by more of either side.
 */
export function brokenBy(
  rule: Omit<RuleSides, 'id'>,
  held: ReadonlySet<Thing>,
  asked: readonly Thing[],
): Thing[] | null {
  const both = broken(rule, new Set([...held, ...asked]))
  if (both === null) return null
  const isAsked = (thing: Thing) => asked.includes(thing)
  const against = [
    ...(both.left.some(isAsked) ? both.right : []),
    ...(both.right.some(isAsked) ? both.left : []),
  ].filter((thing) => held.has(thing))
  // The request names both sides at once, and nothing of them is held yet.
  const atOnce = both.left.some(isAsked) && both.right.some(isAsked)
  return against.length > 0 || atOnce ? [...new Set(against)] : null
}

/** Returns the strictest `onRequest` of some rules, or null if there are no rules. */
export const strictest = (rules: readonly { onRequest: OnRequest }[]): OnRequest | null =>
  ON_REQUEST_NAMES.findLast((name) => rules.some(({ onRequest }) => onRequest === name)) ?? null

/** Returns the things on both sides of a rule. Holding one of them alone would break the rule. */
export const overlap = ({ left, right }: Omit<RuleSides, 'id'>): Thing[] => {
  const those = new Set(thingsOf(right))
  return thingsOf(left).filter((thing) => those.has(thing))
}
