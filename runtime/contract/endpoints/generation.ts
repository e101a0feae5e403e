/**
 * What is installed, as one immutable statement: the wire of `/operator` and what a generation holds in the
 * database (architecture section 6).
 */

import * as v from 'valibot'
import { ConnectorId, normalizeId } from '../connector/manifest.ts'
import { keysOf } from '../schema/keys.ts'
import { described, strictObject } from '../schema/schemas.ts'

const text = (description: string) => described(v.string(), description)
const Digest = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{64}$/, 'must be the 64 hexadecimal digits that `keyway pack` prints'),
)

/** What a version may want, by kind: how the kind is called, and what its subject is. */
export const WANT_KINDS = {
  capability: 'a capability that it offers; the subject is its name',
  egress: 'requests that it sends; the subject is the origin of the address',
  login: 'a login that the host performs for it; the subject is the origin of the address',
  clear_secret: 'a secret that its code sees; the subject is the field',
  limit: 'a resource of the host; the subject is the name of the limit',
} as const
export type WantKind = keyof typeof WANT_KINDS

export const Want = strictObject('Want', 'One thing that a version of a connector wants', {
  kind: described(
    v.picklist(keysOf(WANT_KINDS)),
    Object.entries(WANT_KINDS)
      .map(([kind, words]) => `${kind}: ${words}`)
      .join('. '),
  ),
  subject: v.string(),
  key: text('Which one of the subject; two wants with equal keys are one'),
  words: text('For people'),
  amount: v.optional(described(v.number(), 'How much of it; more covers less')),
  secrets: v.optional(
    described(v.array(v.string()), 'Which secrets may go there; absent: all of them'),
  ),
})
export type Want = v.InferOutput<typeof Want>

/**
 * What wants of kind `egress` send, once for each address and list of methods, with the capabilities that share both.
 * Methods and capabilities are in the order of their letters.
 */
export function sentBy(
  wants: readonly Want[],
): { methods: string; url: string; capabilities: string }[] {
  const asked = wants.map(({ key }): [capability: string, method: string, url: string] =>
    JSON.parse(key),
  )
  const listed = (all: readonly string[]) => [...new Set(all)].sort().join(', ')
  const ofCapability = [...Map.groupBy(asked, ([name, , url]) => JSON.stringify([name, url]))].map(
    ([of, all]) => {
      const [capability, url]: [string, string] = JSON.parse(of)
      return { capability, url, methods: listed(all.map(([, method]) => method)) }
    },
  )
  const shared = Map.groupBy(ofCapability, ({ methods, url }) => JSON.stringify([methods, url]))
  return [...shared].map(([of, all]) => {
    const [methods, url]: [string, string] = JSON.parse(of)
    return { methods, url, capabilities: listed(all.map(({ capability }) => capability)) }
  })
}

export const Grant = strictObject('Grant', 'A want that the operator has granted', {
  ...Want.pipe[0].entries,
  granted_at: text('When, in UTC'),
  granted_by: text('E-mail address of who granted it'),
  reason: text('Why, in their words'),
})
export type Grant = v.InferOutput<typeof Grant>

const TRUST_STATES = ['trusted', 'untrusted', 'invalid'] as const

export const InstalledVersion = strictObject(
  'InstalledVersion',
  'A package that is kept for a connector',
  {
    digest: Digest,
    version: v.string(),
    trust: described(
      v.picklist(TRUST_STATES),
      'trusted: signed by a publisher that the operator trusts. untrusted: not signed, or by a key that nobody knows. invalid: the signature is wrong, or of a key that was revoked',
    ),
    publisher: v.nullable(text('Name of the trusted publisher')),
    key: v.nullable(text('Id of the key that signed it')),
    installed_at: text('When, in UTC'),
    served_until: v.nullable(
      text('When calls went to it last, in UTC; null while they do, and where none ever did'),
    ),
  },
)
export type InstalledVersion = v.InferOutput<typeof InstalledVersion>

export const InstalledConnector = strictObject('InstalledConnector', {
  id: ConnectorId,
  active: v.nullable(text('Digest of the version that calls go to; null: none')),
  disabled: v.boolean(),
  at_once: described(v.boolean(), 'Disabled also for calls and page sequences that had begun'),
  versions: v.array(InstalledVersion),
  grants: v.array(Grant),
})
export type InstalledConnector = v.InferOutput<typeof InstalledConnector>

export const Publisher = strictObject('Publisher', 'A key whose packages the operator trusts', {
  key: text('Id of the key'),
  name: text('Who that is, in the operator’s words'),
  public_key: text('PEM'),
  trusted_at: text('When, in UTC'),
  revoked_at: v.nullable(text('Since then what the key signed is invalid')),
})
export type Publisher = v.InferOutput<typeof Publisher>

/** Connectors by their id in its one spelling. */
export const Statement = strictObject('Statement', 'All that is installed', {
  connectors: v.record(v.string(), InstalledConnector),
  publishers: v.array(Publisher),
})
export type Statement = v.InferOutput<typeof Statement>

/** What is said of a connector, by its id in any spelling; ids such as `constructor` are names like any other. */
export function saidOf({ connectors }: Statement, id: string): InstalledConnector | null {
  const key = normalizeId(id)
  return Object.hasOwn(connectors, key) ? (connectors[key] ?? null) : null
}

/** Whose a connector is, by the newest signature: one that has changed hands belongs to its new publisher. Null: nobody's. */
export const ownerOf = (versions: readonly Pick<InstalledVersion, 'key'>[]): string | null =>
  versions.findLast(({ key }) => key !== null)?.key ?? null

/** What a deployment begins with. */
export const NOTHING_INSTALLED: Statement = { connectors: {}, publishers: [] }

const ACTIONS = [
  'install',
  'activate',
  'disable',
  'enable',
  'remove',
  'grant',
  'revoke',
  'rollback',
  'trust',
  'distrust',
] as const
export type Action = (typeof ACTIONS)[number]

export const Generation = strictObject('Generation', 'One change of what is installed', {
  generation: v.number(),
  at: text('When, in UTC'),
  by: text('E-mail address of who did it'),
  action: v.picklist(ACTIONS),
  reason: text('Why, in their words'),
  difference: described(
    v.array(v.string()),
    'What is different from the generation before, as text',
  ),
})
export type Generation = v.InferOutput<typeof Generation>

export const NodeRow = strictObject('Node', 'A host on this database', {
  node: text('Of one process of the host'),
  generation: described(v.number(), 'What it serves'),
  seen_at: text('When it was heard of last, in UTC'),
  live: v.boolean(),
  problems: described(v.array(v.string()), 'What it could not take over, as text'),
})
export type NodeRow = v.InferOutput<typeof NodeRow>
