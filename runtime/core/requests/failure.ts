/**
 * A step of a request that failed. What the record wants is tried until it is so: people are told after a
 * while, and it goes on beside them. Only giving ends, after a week; taking away never does.
 */
import type { Db } from '../../database/database.ts'
import type { Tell } from '../kernel/context/context.ts'
import { type BackOff, backOffMs } from '../kernel/jobs/back-off.ts'
import type { Failed } from '../provisioning/client.ts'
import type { RequestMeans } from './job-key.ts'
import { change, later, type RequestRow } from './move.ts'
import { closeLeft } from './shared-account.ts'
import { hasOpenTask } from './tasks.ts'
import { byHand, subjectOf, takeByHand, tellToGive, tellToTake } from './transitions.ts'

/** Pauses between tries, and how many fail before people are told: by how the last one failed. */
const TRIES: Record<'system' | 'call' | 'refused', BackOff & { tellAfter: number }> = {
  // The app's admins are told of its outage as one thing: of a request only where it fails on its own.
  system: { firstMs: 2000, longestMs: 600_000, tellAfter: 25 },
  call: { firstMs: 2000, longestMs: 3_600_000, tellAfter: 6 },
  refused: { firstMs: 60_000, longestMs: 3_600_000, tellAfter: 1 },
}

/** How long what was approved is tried, in milliseconds: afterwards it is left to people. */
const GIVE_MS = 7 * 24 * 3600 * 1000

/** What to do about a failure: pure. */
export type Verdict =
  | { kind: 'hands'; problem: string }
  | { kind: 'again'; attempts: number; failingSince: Date; wakeAt: Date; tell: boolean }

export function judgeFailure(
  { todo, attempts: before, failingSince: since }: FailingRequest,
  failed: Failed,
  now: Date,
): Verdict {
  if (failed.end === 'manual') return { kind: 'hands', problem: failed.problem }
  const failingSince = since ?? now
  if (todo === 'grant' && now.getTime() - failingSince.getTime() >= GIVE_MS)
    return { kind: 'hands', problem: failed.problem }
  const attempts = before + 1
  const { tellAfter, ...pauses } = TRIES[failed.end]
  const askedMs = failed.end === 'system' ? (failed.retryAfterMs ?? 0) : 0
  const wakeAt = later(now, Math.max(backOffMs(attempts, pauses), askedMs))
  return { kind: 'again', attempts, failingSince, wakeAt, tell: attempts >= tellAfter }
}

type FailingRequest = Pick<RequestRow, 'todo' | 'attempts' | 'failingSince'>

/** People were asked to act; `goesOn`: it is tried beside them. */
export type Call = { goesOn: boolean; attempts: number }

/** Writes down that a step of a locked request failed. */
export async function settleFailure(
  tx: Db,
  request: RequestRow,
  failed: Failed,
  means: RequestMeans,
): Promise<Call | null> {
  const verdict = judgeFailure(request, failed, await means.now(tx))
  if (verdict.kind === 'hands') {
    await toHands(tx, request, verdict.problem, means)
    return { goesOn: false, attempts: request.attempts + 1 }
  }
  const { attempts, failingSince, wakeAt, tell } = verdict
  const { problem } = failed
  const failing = await change(tx, request, { attempts, failingSince, wakeAt, problem })
  const asked = tell && (await tellPeople(tx, failing, problem, means))
  return asked ? { goesOn: true, attempts } : null
}

/** Leaves a line in the log where people have to act. Not why: that is others' words, and stands in their task. */
export function tellCall(
  { id, carriedAppId, todo, how }: RequestRow,
  call: Call,
  toLog: Tell,
): void {
  const isRemoval = todo === 'remove'
  // What cannot be given by itself, was often meant so.
  const level = call.goesOn || isRemoval ? 'warn' : 'info'
  const what = isRemoval ? 'access that has to go' : 'access that was approved'
  const words = call.goesOn
    ? `${what}: it fails, people were asked, and it goes on being tried`
    : `${what}: it is not tried any more, people were asked`
  toLog(level, { access_request: id, app_id: carriedAppId, how, attempts: call.attempts }, words)
}

/** It is not tried any more: people have to. */
export async function toHands(
  tx: Db,
  request: RequestRow,
  problem: string,
  means: RequestMeans,
): Promise<void> {
  if (request.todo === 'grant') {
    await byHand(tx, request, (await subjectOf(tx, request)).config, problem)
    return
  }
  await takeByHand(tx, request, problem, means)
  await closeLeft(tx, request, means)
}

/** It goes on being tried; people are told, once: false where they were before. */
export async function tellPeople(
  tx: Db,
  request: RequestRow,
  problem: string | null,
  means: RequestMeans,
): Promise<boolean> {
  const category = request.todo === 'grant' ? 'PROVISIONING' : 'DEPROVISIONING'
  if (await hasOpenTask(tx, request, category)) return false
  if (request.todo === 'grant') {
    await tellToGive(tx, request, (await subjectOf(tx, request)).config, problem)
    return true
  }
  await tellToTake(tx, request, problem)
  await closeLeft(tx, request, means)
  return true
}
