/** Effect of a resolved task on its access request. */
import { eq } from 'drizzle-orm'
import { badRequest, conflict, forbidden } from '../../contract/errors/problem.ts'
import { GLASS_TASK } from '../../contract/models/break-glass.ts'
import { isByHand, isDecision, type ManualTask } from '../../contract/models/task.ts'
import type { Db } from '../../database/database.ts'
import { accessRequests, type RequestRow } from '../../database/schema/requests.ts'
import { type TaskRow, tasks } from '../../database/schema/tasks.ts'
import { callNow } from '../catalogue/apps/outages.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { type Parties, partiesOf } from './active-people.ts'
import { apply } from './apply.ts'
import { type Decision, decided } from './decide.ts'
import type { RequestEvent } from './machine/events.ts'
import { standingOf } from './machine/states.ts'
import type { RequestDeps } from './request-deps.ts'

/** Locks the request of a task until the transaction ends. All code locks the request before its task. */
export async function lockRequestOf(tx: Db, taskId: string): Promise<RequestRow | null> {
  const [row] = await tx
    .select({ request: accessRequests })
    .from(accessRequests)
    .innerJoin(tasks, eq(tasks.accessRequestId, accessRequests.id))
    .where(eq(tasks.id, taskId))
    .for('update', { of: accessRequests })
  return row?.request ?? null
}

/** Returns the request with the id stored in a task, or null if the task has none. */
export async function requestOfTask(db: Db, id: string | null): Promise<RequestRow | null> {
  if (id === null) return null
  const [row] = await db.select().from(accessRequests).where(eq(accessRequests.id, id))
  return row ?? null
}

/** Reports whether the caller is not a party of the request, or the task is no decision. */
export const mayDecide = (
  request: Parties,
  { userId }: Pick<Principal, 'userId'>,
  { taskCategory }: Pick<TaskRow, 'taskCategory'>,
): boolean => !isDecision(taskCategory) || !partiesOf(request).includes(userId)

/** Requires that the caller may decide. @throws CoreError `forbidden` for a party of the request */
export function authoriseOutcome(
  request: RequestRow,
  principal: Principal,
  task: Pick<TaskRow, 'taskCategory'>,
): void {
  if (mayDecide(request, principal, task)) return
  throw forbidden('You requested this access or are to receive it: another person has to decide')
}

/** By category of a manual task: the state in which it is valid, and the events of its outcomes. */
const BY_HAND: Record<
  ManualTask,
  {
    in: RequestRow['status']
    done(by: Decision['actor']): RequestEvent
    declined(by: Decision['actor']): RequestEvent
    retried: RequestEvent
  }
> = {
  PROVISIONING: {
    in: 'PENDING_MANUAL_PROVISIONING',
    done: (by) => ({ kind: 'granted_by_hand', by }),
    declined: (by) => ({ kind: 'grant_refused', by }),
    retried: { kind: 'grant_retried' },
  },
  DEPROVISIONING: {
    in: 'PENDING_MANUAL_DEPROVISIONING',
    done: (by) => ({ kind: 'revoked_by_hand', by }),
    declined: (by) => ({ kind: 'revocation_declined', by }),
    retried: { kind: 'revocation_retried' },
  },
}

/** Advances a locked request after its task was resolved or retried. Other task changes have no effect. */
export async function applyTaskOutcome(
  tx: Db,
  request: RequestRow,
  { taskCategory: category, taskType }: Pick<TaskRow, 'taskCategory' | 'taskType'>,
  decision: Decision,
  deps: RequestDeps,
): Promise<void> {
  const settled = decision.to === 'COMPLETED' || decision.to === 'DISMISSED'
  if (taskType === GLASS_TASK) {
    if (settled) await apply(tx, request, reviewOf(decision), deps)
    return
  }
  if (isDecision(category)) {
    if (settled && request.status === `PENDING_${category}`)
      await decided(tx, request, decision, deps)
    return
  }
  if (!isByHand(category)) return
  const row = BY_HAND[category]
  const isLeftover = category === 'DEPROVISIONING' && standingOf(request.status) === 'over'
  if (!isLeftover && request.status !== row.in) return
  if (decision.to === 'RETRIED') {
    await requireRetry(tx, request, deps)
    await apply(tx, request, row.retried, deps)
  } else if (settled) {
    const settledBy = decision.to === 'COMPLETED' ? row.done : row.declined
    const event = isLeftover ? ({ kind: 'leftover_settled' } as const) : settledBy(decision.actor)
    await apply(tx, request, event, deps)
  }
}

/** Returns a review's event. @throws CoreError `bad_request` without a reason: that would skip the review */
function reviewOf({ actor, to, comment }: Decision): RequestEvent<'glass_reviewed'> {
  if (comment !== null)
    return { kind: 'glass_reviewed', by: actor, wasRight: to === 'COMPLETED', reason: comment }
  throw badRequest(
    'Describe in `reason` what the review found; the task cannot be closed without it',
  )
}

/** Reports whether a connector or a webhook could do the manual work of a request. */
export const canBeTried = ({ fulfilment }: Pick<RequestRow, 'fulfilment'>): boolean =>
  fulfilment !== 'manual'

/** Requires that the operation can be retried. @throws CoreError `conflict` if it cannot */
async function requireRetry(tx: Db, request: RequestRow, deps: RequestDeps): Promise<void> {
  if (!canBeTried(request))
    throw conflict('No connector or webhook can do this; do it by hand and complete the task')
  await callNow(tx, request.carriedAppId, await deps.now(tx))
}
