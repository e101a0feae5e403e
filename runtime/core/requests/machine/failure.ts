/**
 * What follows from an operation that failed. What the record wants is tried until it is so: people are asked
 * after a while, and it goes on being tried. Only granting ends, after a week; revoking never does.
 */
import { type BackOff, backOffMs, later } from '../../kernel/jobs/back-off.ts'
import type { Failed } from '../../provisioning/client.ts'
import type { RequestRow } from './request.ts'

/** Pauses between tries, and how many fail before people are asked: by how the last one failed. */
const TRIES: Record<'system' | 'call' | 'refused', BackOff & { tellAfter: number }> = {
  // The app's admins get one task for its outage: one for a request only where it fails on its own.
  system: { firstMs: 2000, longestMs: 600_000, tellAfter: 25 },
  call: { firstMs: 2000, longestMs: 3_600_000, tellAfter: 6 },
  refused: { firstMs: 60_000, longestMs: 3_600_000, tellAfter: 1 },
}

/** How long what was approved is tried, in milliseconds: afterwards it is left to people. */
const GRANT_MS = 7 * 24 * 3600 * 1000

/** How long to wait after the job itself failed again and again: a defect of ours, or a database that was away. */
const AFTER_DEFECT_MS = 3_600_000

/** What to do about a failure: leave it to people, or try again and perhaps ask people too. */
export type Verdict =
  | { kind: 'hands'; problem: string }
  | { kind: 'again'; attempts: number; failingSince: Date; wakeAt: Date; tell: boolean }

type FailingRequest = Pick<RequestRow, 'pendingOperation' | 'attempts' | 'failingSince'>

/** Judges an operation that failed in the system. */
export function judgeFailure(
  { pendingOperation, attempts: before, failingSince: since }: FailingRequest,
  failed: Failed,
  now: Date,
): Verdict {
  const { problem } = failed
  if (failed.end === 'manual') return { kind: 'hands', problem }
  const failingSince = since ?? now
  if (pendingOperation === 'grant' && now.getTime() - failingSince.getTime() >= GRANT_MS)
    return { kind: 'hands', problem }
  const attempts = before + 1
  const { tellAfter, ...pauses } = TRIES[failed.end]
  const askedMs = failed.end === 'system' ? (failed.retryAfterMs ?? 0) : 0
  const wakeAt = later(now, Math.max(backOffMs(attempts, pauses), askedMs))
  return { kind: 'again', attempts, failingSince, wakeAt, tell: attempts >= tellAfter }
}

/** Judges a job that failed before it could say why: people are asked, and it is tried every hour. */
export const judgeDefect = ({ attempts, failingSince }: FailingRequest, now: Date): Verdict => ({
  kind: 'again',
  attempts,
  failingSince: failingSince ?? now,
  wakeAt: later(now, AFTER_DEFECT_MS),
  tell: true,
})
