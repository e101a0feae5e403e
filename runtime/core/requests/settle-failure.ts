/** Failed operations of a request. machine/failure.ts judges them, this file applies the verdict. */
import type { Db } from '../../database/database.ts'
import type { RequestRow } from '../../database/schema/requests.ts'
import type { Tell } from '../kernel/context/context.ts'
import type { Failed } from '../provisioning/client.ts'
import { apply } from './apply.ts'
import { type FailureVerdict, judgeDefect, judgeFailure } from './machine/failure.ts'
import type { RequestDeps } from './request-deps.ts'
import { subjectOf } from './subject.ts'
import { hasOpenTask } from './tasks.ts'

/** People were asked to act. `goesOn`: automatic tries continue. */
export type AskedPeople = { goesOn: boolean; attempts: number }

/** Applies the failure of a locked request's pending operation in the system. */
export async function settleFailure(
  tx: Db,
  request: RequestRow,
  failed: Failed,
  deps: RequestDeps,
): Promise<AskedPeople | null> {
  const now = await deps.now(tx)
  return settle(tx, request, judgeFailure(request, failed, now), failed.problem, deps, now)
}

/** Applies the repeated failure of a locked request's job. */
export async function settleDefect(
  tx: Db,
  request: RequestRow,
  problem: string,
  deps: RequestDeps,
  now: Date,
): Promise<void> {
  await settle(tx, request, judgeDefect(request, now), problem, deps, now)
}

async function settle(
  tx: Db,
  request: RequestRow,
  verdict: FailureVerdict,
  problem: string,
  deps: RequestDeps,
  now: Date,
): Promise<AskedPeople | null> {
  const isGrant = request.pendingOperation === 'grant'
  const category = isGrant ? 'PROVISIONING' : 'DEPROVISIONING'
  const asks =
    verdict.kind === 'manual' || (verdict.tell && !(await hasOpenTask(tx, request, category)))
  const instructions = asks && isGrant ? (await subjectOf(tx, request)).config.instructions : null
  const event = { kind: 'operation_failed', verdict, problem, asks, instructions } as const
  await apply(tx, request, event, deps, now)
  if (!asks) return null
  return verdict.kind === 'manual'
    ? { goesOn: false, attempts: request.attempts + 1 }
    : { goesOn: true, attempts: verdict.attempts }
}

/** Logs that people have to act. The problem is only in their task: it may contain texts of other systems. */
export function logManualWork(
  { id, carriedAppId, pendingOperation, fulfilment }: RequestRow,
  asked: AskedPeople,
  tell: Tell,
): void {
  const isRemoval = pendingOperation === 'remove'
  // Access that cannot be granted automatically was often configured that way.
  const level = asked.goesOn || isRemoval ? 'warn' : 'info'
  const what = isRemoval ? 'access to be revoked' : 'approved access'
  const words = asked.goesOn
    ? `${what}: it fails; people got a task, and Keyway keeps trying`
    : `${what}: Keyway has given up; people got a task`
  const { attempts } = asked
  tell(level, { access_request: id, app_id: carriedAppId, how: fulfilment, attempts }, words)
}
