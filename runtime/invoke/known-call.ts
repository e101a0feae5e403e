/**
 * Calls of tenants whose credentials and settings were judged before: the same ones would be judged the same again.
 * Only their digests are kept, of those alone of which judging changes nothing.
 */
import { createCache } from '../contract/cache.ts'
import type { CapabilityName } from '../contract/capabilities.ts'
import type { Call } from '../contract/envelope.ts'
import { MAX_PAGE_SIZE } from '../contract/envelope-schemas.ts'
import { fittingCopy, MISFIT } from '../contract/fitting-copy.ts'
import { hasSecrets } from '../contract/secrets.ts'
import { isPlain } from './from-lane.ts'
import { isolateKeyOf } from './isolate-key.ts'
import type { ServedVersion } from './ports.ts'

/** A body as it was sent, and whose it is if judging it changes nothing. */
export type Sent = { tenant: string; call: Call }

export type KnownCalls = {
  /** What was sent, where it needs nothing but to be looked at; null for what only the schemas can judge. */
  sent(body: unknown, version: ServedVersion, capability: CapabilityName): Sent | null
  /** Whether the credentials and settings of it were judged for this version. */
  isJudged(sent: Sent, version: ServedVersion): boolean
  /** They were judged now, and this came out. */
  judged(sent: Sent, version: ServedVersion, tenant: string): void
}

export function createKnownCalls(): KnownCalls {
  const known = createCache<true>('judged_tenants', { bytesOf: () => 0 })
  const keyOf = (version: ServedVersion, tenant: string) => `${version.digest} ${tenant}`

  return {
    sent(body, version, capability) {
      const request = version.request(capability)
      if (request === null || isPlain(capability) || hasSecrets(request)) return null
      const parts = partsOf(body)
      if (parts === null) return null
      const copied = fittingCopy(request)(parts.request)
      if (copied === MISFIT) return null
      const call = { ...parts, request: copied }
      return { call, tenant: isolateKeyOf(call) }
    },
    isJudged: ({ tenant }, version) => known.get(keyOf(version, tenant)) === true,
    judged(sent, version, tenant) {
      if (sent.tenant === tenant) known.set(keyOf(version, tenant), true)
    },
  }
}

type Body = {
  request?: unknown
  settings?: unknown
  auth?: unknown
  credentials?: unknown
  page?: unknown
  include_raw_data?: unknown
}

/** The members of an envelope of the usual form, credentials and settings as they were sent. */
function partsOf(body: unknown): Call | null {
  if (!isObject(body)) return null
  const { request, settings, auth, credentials, page, include_raw_data: raw } = body as Body
  const size = sizeOf(page)
  if (size === undefined) return null
  if (raw !== undefined && raw !== null && typeof raw !== 'boolean') return null
  return {
    request,
    // What they are is said where they were judged: of another form they have another digest.
    settings: (settings ?? {}) as Call['settings'],
    auth: (auth ?? null) as Call['auth'],
    credentials: (credentials ?? null) as Call['credentials'],
    page: { token: null, size },
    includeRawData: raw === true,
  }
}

/** The size of a first page, null for none; undefined for what is judged by its schema. */
function sizeOf(page: unknown): number | null | undefined {
  if (page === undefined || page === null) return null
  if (!isObject(page)) return undefined
  const { token = null, size = null } = page as { token?: unknown; size?: unknown }
  if (token !== null) return undefined
  if (size === null) return null
  const fits = Number.isInteger(size) && (size as number) >= 1 && (size as number) <= MAX_PAGE_SIZE
  return fits ? (size as number) : undefined
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
