/**
 * The installed connectors as one immutable statement: the wire format of `/operator` and the content of a
 * generation in the database (architecture section 6).
 */

import * as v from 'valibot'
import { ConnectorId, normalizeId } from '../connector/manifest.ts'
import type { ActivityEvent } from '../models/activity-event.ts'
import { keysOf } from '../schema/keys.ts'
import { described, strictObject } from '../schema/schemas.ts'

const text = (description: string) => described(v.string(), description)
const Digest = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{64}$/, 'must be the 64 hexadecimal digits that `keyway pack` prints'),
)

/** Kinds of things that a version may want -> description, and meaning of the subject. */
export const WANT_KINDS = {
  capability: 'a capability that it offers; the subject is its name',
  egress: 'requests that it sends; the subject is the origin of the URL',
  login: 'a login that the host performs for it; the subject is the origin of the URL',
  clear_secret: 'a secret that its code may read; the subject is the field',
  limit: 'a resource of the host; the subject is the name of the limit',
} as const
export type WantKind = keyof typeof WANT_KINDS

export const Want = strictObject(
  'Want',
  'A permission or resource that a version of a connector wants',
  {
    kind: described(
      v.picklist(keysOf(WANT_KINDS)),
      Object.entries(WANT_KINDS)
        .map(([kind, words]) => `${kind}: ${words}`)
        .join('. '),
    ),
    subject: v.string(),
    key: text('Identifies the want within its subject; two wants with equal keys are the same'),
    words: text('For people'),
    amount: v.optional(described(v.number(), 'Amount; a larger one covers a smaller one')),
    secrets: v.optional(
      described(v.array(v.string()), 'Secrets that may be sent there; absent: all of them'),
    ),
  },
)
export type Want = v.InferOutput<typeof Want>

/**
 * Summarises wants of kind `egress`: one entry per URL and list of methods, with the capabilities that share
 * both. Methods and capabilities are in alphabetical order.
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
  granted_at: text('Time in UTC'),
  granted_by: text('E-mail address of the person who granted it'),
  reason: text('Reason that the person gave'),
})
export type Grant = v.InferOutput<typeof Grant>

const TRUST_STATES = ['trusted', 'untrusted', 'invalid'] as const

export const InstalledVersion = strictObject(
  'InstalledVersion',
  'A stored package of a connector',
  {
    digest: Digest,
    version: v.string(),
    trust: described(
      v.picklist(TRUST_STATES),
      'trusted: signed by a publisher that the operator trusts. untrusted: not signed, or signed by an unknown key. invalid: the signature is wrong, or its key was revoked',
    ),
    publisher: v.nullable(text('Name of the trusted publisher')),
    key: v.nullable(text('Id of the key that signed it')),
    installed_at: text('Time in UTC'),
    served_until: v.nullable(
      text('Time until which calls went to it, in UTC; null while they do, or if none ever did'),
    ),
  },
)
export type InstalledVersion = v.InferOutput<typeof InstalledVersion>

export const InstalledConnector = strictObject('InstalledConnector', {
  id: ConnectorId,
  active: v.nullable(text('Digest of the version that receives calls; null: none')),
  disabled: v.boolean(),
  at_once: described(
    v.boolean(),
    'Whether calls and page sequences that had started were stopped, too',
  ),
  versions: v.array(InstalledVersion),
  grants: v.array(Grant),
})
export type InstalledConnector = v.InferOutput<typeof InstalledConnector>

export const Publisher = strictObject('Publisher', 'A key whose packages the operator trusts', {
  key: text('Id of the key'),
  name: text('Name that the operator gave to its owner'),
  public_key: text('PEM'),
  trusted_at: text('Time in UTC'),
  revoked_at: v.nullable(text('Time since which packages signed by the key are invalid')),
})
export type Publisher = v.InferOutput<typeof Publisher>

/** Connectors by their normalized id. */
export const Statement = strictObject('Statement', 'All installed connectors and trusted keys', {
  connectors: v.record(v.string(), InstalledConnector),
  publishers: v.array(Publisher),
})
export type Statement = v.InferOutput<typeof Statement>

/**
 * Returns the entry of a connector by its id in any spelling, or null. An id such as `constructor` is a name
 * like any other.
 */
export function entryOf({ connectors }: Statement, id: string): InstalledConnector | null {
  const key = normalizeId(id)
  return Object.hasOwn(connectors, key) ? (connectors[key] ?? null) : null
}

/**
 * Returns the id of the key that owns a connector, or null if no version is signed. The newest signature
 * decides, so a connector that changed hands belongs to its new publisher.
 */
export const ownerOf = (versions: readonly Pick<InstalledVersion, 'key'>[]): string | null =>
  versions.findLast(({ key }) => key !== null)?.key ?? null

/** Initial statement of a deployment. */
export const NOTHING_INSTALLED: Statement = { connectors: {}, publishers: [] }

/** Action -> the event that the activity log records. */
export const ACTION_EVENTS = {
  install: 'CONNECTORS_INSTALL',
  activate: 'CONNECTORS_ACTIVATE',
  disable: 'CONNECTORS_DISABLE',
  enable: 'CONNECTORS_ENABLE',
  remove: 'CONNECTORS_REMOVE',
  grant: 'CONNECTORS_GRANT',
  revoke: 'CONNECTORS_REVOKE',
  rollback: 'CONNECTORS_ROLLBACK',
  trust: 'CONNECTORS_TRUST',
  distrust: 'CONNECTORS_DISTRUST',
} as const satisfies Record<string, ActivityEvent>
const ACTIONS = keysOf(ACTION_EVENTS)
export type Action = keyof typeof ACTION_EVENTS

export const Generation = strictObject('Generation', 'One change of the installed connectors', {
  generation: v.number(),
  at: text('Time in UTC'),
  by: text('E-mail address of the person who made it'),
  action: v.picklist(ACTIONS),
  reason: text('Reason that the person gave'),
  difference: described(v.array(v.string()), 'Differences from the previous generation, as text'),
})
export type Generation = v.InferOutput<typeof Generation>

export const NodeRow = strictObject('Node', 'A host on this database', {
  node: text('Id of one process of the host'),
  generation: described(v.number(), 'Generation that it serves'),
  seen_at: text('Last sign of life, in UTC'),
  live: v.boolean(),
  problems: described(v.array(v.string()), 'Parts that it could not adopt, as text'),
})
export type NodeRow = v.InferOutput<typeof NodeRow>
