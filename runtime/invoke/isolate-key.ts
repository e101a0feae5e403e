/** The isolate that serves a call, and its limits. */
import { hash } from 'node:crypto'
import type { Call } from '../contract/envelope/envelope.ts'
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

/** Deadline of a call of a version, in milliseconds, and how many calls of one tenant run at once. */
export function boundsOf(
  { manifest: { limits } }: Pick<ServedVersion, 'manifest'>,
  { ceilings }: Pick<InvokeDeps, 'ceilings'>,
): { deadlineMs: number; concurrency: number } {
  return {
    deadlineMs: Math.min(limits.deadline_ms, ceilings.maxDeadlineMs),
    concurrency: Math.min(limits.concurrency, ceilings.maxConcurrency),
  }
}
