/** Rules of separation of duties, without the database: what breaks one, and what follows for a request. */
import { ON_REQUEST_NAMES, type OnRequest } from '../../contract/models/separation.ts'

/** What can be held, as one text: `app ID` or `permission ID`. */
export type Thing = `app ${string}` | `permission ${string}`

type Side = { apps: readonly string[]; permissions: readonly string[] }
export type RuleSides = { id: string; left: Side; right: Side }

export const appThing = (id: string): Thing => `app ${id}`
export const permissionThing = (id: string): Thing => `permission ${id}`

export const thingsOf = ({ apps, permissions }: Side): Thing[] => [
  ...apps.map(appThing),
  ...permissions.map(permissionThing),
]

export type Broken = { left: Thing[]; right: Thing[] }

/** What of each side is held; null where one of them is not. */
export function broken(
  { left, right }: Omit<RuleSides, 'id'>,
  held: ReadonlySet<Thing>,
): Broken | null {
  const of = (side: Side) => thingsOf(side).filter((thing) => held.has(thing))
  const both = { left: of(left), right: of(right) }
  return both.left.length > 0 && both.right.length > 0 ? both : null
}

/**
 * What is held of the side against which the things asked for stand; null where they would not break the rule. What is
 * broken already is broken by more of either side, too.
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
  // Both sides at once, of which nothing is held yet.
  const atOnce = both.left.some(isAsked) && both.right.some(isAsked)
  return against.length > 0 || atOnce ? [...new Set(against)] : null
}

/** What the strictest of some rules asks for; null for none. */
export const strictest = (rules: readonly { onRequest: OnRequest }[]): OnRequest | null =>
  ON_REQUEST_NAMES.findLast((name) => rules.some(({ onRequest }) => onRequest === name)) ?? null

/** Whether two sides share something: a person who holds it breaks the rule by that alone. */
export const overlap = ({ left, right }: Omit<RuleSides, 'id'>): Thing[] => {
  const those = new Set(thingsOf(right))
  return thingsOf(left).filter((thing) => those.has(thing))
}
