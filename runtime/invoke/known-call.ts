/**
 * Skips the validation of credentials and settings that were validated before. Only digests are cached, and only for
 * inputs that validation returns unchanged.
 */

import { createCache } from '../bounded/cache.ts'
import { type CapabilityName, hasNoCredentials } from '../contract/capabilities/capabilities.ts'
import { hasSecrets } from '../contract/connector/secrets.ts'
import type { Call } from '../contract/envelope/envelope.ts'
import { MAX_PAGE_SIZE } from '../contract/envelope/envelope-schemas.ts'
import { isObject } from '../contract/schema/record.ts'
import { fittingCopy, MISFIT } from './fitting-copy.ts'
import { isolateKeyOf } from './isolate-key.ts'
import type { ServedVersion } from './ports.ts'

/** A request body before validation, and its tenant provided that validation does not change it. */
export type Sent = { tenant: string; call: Call }

type KnownCalls = {
  /**
   * Returns the parts of a body that is valid except for its credentials and settings; null if it needs full
   * validation.
   */
  sent(body: unknown, version: ServedVersion, capability: CapabilityName): Sent | null
  /** Reports whether its credentials and settings were validated for this version. */
  isJudged(sent: Sent, version: ServedVersion): boolean
  /** Records that they were validated, and the resulting tenant. */
  judged(sent: Sent, version: ServedVersion, tenant: string): void
}

export function createKnownCalls(): KnownCalls {
  const known = createCache<true>('judged_tenants', { bytesOf: () => 0 })
  const keyOf = (version: ServedVersion, tenant: string) => `${version.digest} ${tenant}`

  return {
    sent(body, version, capability) {
      const request = version.request(capability)
      if (request === null || hasNoCredentials(capability) || hasSecrets(request)) return null
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

/** Returns the members of a common envelope, with credentials and settings as sent; null for other forms. */
function partsOf(body: unknown): Call | null {
  if (!isObject(body)) return null
  const { request, settings, auth, credentials, page, include_raw_data: raw }: Body = body
  const size = sizeOf(page)
  if (size === undefined) return null
  if (raw !== undefined && raw !== null && typeof raw !== 'boolean') return null
  const sent = { settings: settings ?? {}, auth: auth ?? null, credentials: credentials ?? null }
  // The cast is safe: they are used only if the same digest was validated before.
  const signed = sent as Pick<Call, 'settings' | 'auth' | 'credentials'>
  return {
    request,
    ...signed,
    page: { token: null, size },
    includeRawData: raw === true,
  }
}

/** Returns the size of a first page; null if not given; undefined if the schema has to validate it. */
function sizeOf(page: unknown): number | null | undefined {
  if (page === undefined || page === null) return null
  if (!isObject(page)) return undefined
  const { token = null, size = null }: { token?: unknown; size?: unknown } = page
  if (token !== null) return undefined
  if (size === null) return null
  if (typeof size !== 'number' || !Number.isInteger(size)) return undefined
  return size >= 1 && size <= MAX_PAGE_SIZE ? size : undefined
}
