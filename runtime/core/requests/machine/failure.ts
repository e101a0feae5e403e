/**
 * Consequences of a failed operation. The wanted state is tried until it is reached. After a while people are
 * asked too, and the tries continue. Only granting gives up, after a week; revoking never does.
 */

import type { RequestRow } from '../../../database/schema/requests.ts'
import { later, pauseMs, RETRY_SCHEDULES } from '../../kernel/jobs/retry-schedules.ts'
import type { Failed } from '../../provisioning/client.ts'

/** Response to a failure: leave it to people, or try again and perhaps ask people too. */
export type FailureVerdict =
  | { kind: 'manual'; problem: string }
  | { kind: 'again'; attempts: number; failingSince: Date; wakeAt: Date; tell: boolean }

type FailingRequest = Pick<RequestRow, 'pendingOperation' | 'attempts' | 'failingSince'>

/** Judges an operation that failed in the system. */
export function judgeFailure(
  { pendingOperation, attempts: before, failingSince: since }: FailingRequest,
  failed: Failed,
  now: Date,
): FailureVerdict {
  const { problem } = failed
  if (failed.fault === 'manual') return { kind: 'manual', problem }
  const failingSince = since ?? now
  const { endGrantsAfterMs, tellAfter } = RETRY_SCHEDULES[failed.fault]
  if (pendingOperation === 'grant' && now.getTime() - failingSince.getTime() >= endGrantsAfterMs)
    return { kind: 'manual', problem }
  const attempts = before + 1
  const askedMs = failed.fault === 'system' ? (failed.retryAfterMs ?? 0) : 0
  const wakeAt = later(now, Math.max(pauseMs(failed.fault, attempts), askedMs))
  return {
    kind: 'again',
    attempts,
    failingSince,
    wakeAt,
    tell: attempts >= tellAfter,
  }
}

/**
 * Judges a job that failed without an outcome, through a bug in Keyway or an unavailable database: people are
 * asked, and it is tried every hour.
 */
export const judgeDefect = (
  { attempts, failingSince }: FailingRequest,
  now: Date,
): FailureVerdict => ({
  kind: 'again',
  attempts,
  failingSince: failingSince ?? now,
  wakeAt: later(now, pauseMs('defect', 1)),
  tell: true,
})
