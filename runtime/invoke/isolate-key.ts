/** The isolate that serves a call, and its limits. */
import { hash } from 'node:crypto'
import type { Call } from '../contract/envelope/envelope.ts'
import type { TurnBounds } from './concurrency.ts'
import type { InvokeDeps, ServedVersion } from './ports.ts'

/**
 * A digest of settings and credentials. It may change with a token refresh, and with the order of members in the body.
 */
export function isolateKeyOf({
  settings,
  auth,
  credentials,
}: Pick<Call, 'settings' | 'auth' | 'credentials'>): string {
  return hash('sha256', JSON.stringify([settings, auth, credentials]), 'base64url')
}

/** What a tenant has of a version: turns, and the deadline of a call, in milliseconds. */
export type TenantBounds = TurnBounds & { deadlineMs: number }

/** The bounds of a version: what its manifest wishes, under the operator's ceilings. */
export function boundsOf(
  { manifest: { limits } }: Pick<ServedVersion, 'manifest'>,
  { ceilings }: Pick<InvokeDeps, 'ceilings'>,
): TenantBounds {
  return {
    deadlineMs: Math.min(limits.deadline_ms, ceilings.maxDeadlineMs),
    concurrency: Math.min(limits.concurrency, ceilings.maxConcurrency),
  }
}
