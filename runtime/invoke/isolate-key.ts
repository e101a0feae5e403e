/** Which tenant's isolate serves a call, and what bounds it. */
import { hash } from 'node:crypto'
import type { Call } from '../contract/envelope.ts'
import type { InvokeDeps, ServedVersion } from './ports.ts'

/**
 * A digest of settings and credentials. May change with every token refresh, and with the order of members that
 * a caller chose.
 */
export function isolateKeyOf({
  settings,
  auth,
  credentials,
}: Pick<Call, 'settings' | 'auth' | 'credentials'>): string {
  return hash('sha256', JSON.stringify([settings, auth, credentials]), 'base64url')
}

/** How long a call of a version may take, in milliseconds, and how many of one tenant run at once. */
export function boundsOf(
  { manifest: { limits } }: Pick<ServedVersion, 'manifest'>,
  { ceilings }: Pick<InvokeDeps, 'ceilings'>,
): { deadlineMs: number; concurrency: number } {
  return {
    deadlineMs: Math.min(limits.deadline_ms, ceilings.maxDeadlineMs),
    concurrency: Math.min(limits.concurrency, ceilings.maxConcurrency),
  }
}
