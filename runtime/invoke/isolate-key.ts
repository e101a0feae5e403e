/** Determines the isolate that serves a call, and its limits. */
import { hash } from 'node:crypto'
import type { Call } from '../contract/envelope/envelope.ts'
import type { TurnBounds } from './concurrency.ts'
import type { InvokeDeps, ServedVersion } from './ports.ts'

/**
 * Returns a digest of settings and credentials. It may change with a token refresh and with the order of
 * members in the body.
 */
export function isolateKeyOf({
  settings,
  auth,
  credentials,
}: Pick<Call, 'settings' | 'auth' | 'credentials'>): string {
  return hash('sha256', JSON.stringify([settings, auth, credentials]), 'base64url')
}

/** Limits of a tenant of a version: concurrency, and the deadline of a call in milliseconds. */
export type TenantBounds = TurnBounds & { deadlineMs: number }

/** Returns the limits of a version: those requested by its manifest, capped by the operator's. */
export function boundsOf(
  { manifest: { limits } }: Pick<ServedVersion, 'manifest'>,
  { ceilings }: Pick<InvokeDeps, 'ceilings'>,
): TenantBounds {
  return {
    deadlineMs: Math.min(limits.deadline_ms, ceilings.maxDeadlineMs),
    concurrency: Math.min(limits.concurrency, ceilings.maxConcurrency),
  }
}
