/** Executor of access requests: carries out an event of a locked request in the caller's transaction. */
import type { Db } from '../../database/database.ts'
import type { RequestRow } from '../../database/schema/requests.ts'
import { beginReason, endReason } from '../history/reasons.ts'
import { type Executor, execute } from '../machine/execute.ts'
import { pairKey } from '../provisioning/pair.ts'
import { manualWorkersOf } from './approvers.ts'
import type { EventKind, RequestEvent } from './machine/events.ts'
import type { OwnEffect, RequestWrite } from './machine/request.ts'
import { transition } from './machine/transitions.ts'
import { change, move } from './move.ts'
import type { RequestDeps } from './request-deps.ts'
import { releaseAccount, revokedByHandFor } from './shared-account.ts'
import { closeTasks, openRequestTask } from './tasks.ts'

/**
 * Applies an event to a locked request.
 *
 * @param now time of the transaction; queried if omitted
 * @returns the request after the event
 * @throws Error if the event is not valid in its state, which is a bug in Keyway
 */
export async function apply<K extends EventKind>(
  tx: Db,
  request: RequestRow,
  event: RequestEvent<K>,
  deps: RequestDeps,
  now?: Date,
): Promise<RequestRow> {
  const at = now ?? (await deps.now(tx))
  return execute(tx, request, transition(request, event, at), executorOf(deps, at))
}

const whereOf = ({ domainId, carriedAppId }: RequestRow) => ({ domainId, appId: carriedAppId })

type RequestExecutor = Executor<RequestRow, RequestWrite, OwnEffect>

const executorOf = (deps: RequestDeps, now: Date): RequestExecutor => ({
  write: (tx, request, { to, ...written }) =>
    to === undefined ? change(tx, request, written.set) : move(tx, request, to, written),

  async carryOut(tx, request, effect) {
    switch (effect.kind) {
      case 'close_tasks':
        return closeTasks(tx, request, effect.as)
      case 'open_task': {
        const { task, assignees, instructions } = effect
        const people = assignees === 'admins' ? await manualWorkersOf(tx, request) : assignees
        return openRequestTask(tx, request, task, people, instructions)
      }
      case 'begin_reason':
        await beginReason(tx, request)
        return deps.listeners.accessChanged(tx, whereOf(request))
      case 'end_reason':
        await endReason(tx, request)
        return deps.listeners.accessChanged(tx, whereOf(request))
      case 'schedule':
        return deps.send(tx, 'access-requests', pairKey(request))
      case 'close_shared_account': {
        const left = await releaseAccount(tx, request)
        if (left !== null) await apply(tx, left, { kind: 'revocation_retried' }, deps, now)
        return
      }
      case 'recall_revocations': {
        for (const one of await revokedByHandFor(tx, request))
          await apply(tx, one, { kind: 'revocation_retried' }, deps, now)
      }
    }
  },
})
