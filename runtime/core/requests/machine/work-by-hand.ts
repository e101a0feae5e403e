/** Manual work of a request: the states it leads to, and the texts of its tasks. */

import type { RequestRow } from '../../../database/schema/requests.ts'
import { later } from '../../kernel/jobs/retry-schedules.ts'
import { AT_REST, type RequestTransition, type RequestWrite } from './request.ts'
import { standingOf } from './states.ts'

/** Time that people have to revoke by hand, in milliseconds. */
const MANUAL_REVOCATION_MS = 30 * 24 * 3600 * 1000

/** Reports whether a request is over. */
export const isOver = ({ status }: Pick<RequestRow, 'status'>): boolean =>
  standingOf(status) === 'over'

const paragraphs = (...texts: (string | null)[]): string | null =>
  texts.filter((one) => one).join('\n\n') || null

const final = (instructions: string | null, problem: string | null): string | null =>
  paragraphs(
    problem === null ? null : `It could not be done automatically: ${problem}`,
    instructions,
  )

const meanwhile = (instructions: string | null, problem: string): string | null =>
  paragraphs(
    `Keyway could not do it yet: ${problem}`,
    'Keyway keeps trying, and this task closes once it is done. “retry” tries now.',
    instructions,
  )

/** Leaves the grant to people. `problem` is why it was not done automatically. */
export function grantByHand(
  { status }: Pick<RequestRow, 'status'>,
  instructions: string | null,
  problem: string | null,
): RequestTransition {
  const set = { ...AT_REST, problem }
  return {
    writes: [
      status === 'PENDING_MANUAL_PROVISIONING'
        ? { set }
        : { to: 'PENDING_MANUAL_PROVISIONING', failure: problem, set },
    ],
    effects: [
      { kind: 'close_tasks', as: 'DISMISSED' },
      {
        kind: 'open_task',
        task: 'grant',
        assignees: 'admins',
        instructions: final(instructions, problem),
      },
    ],
  }
}

/** Leaves the revocation to people. A request that is over keeps its state, but opens a task too. */
export function revokeByHand(request: RequestRow, problem: string, now: Date): RequestTransition {
  const set = {
    ...{ pendingOperation: null, problem },
    wakeAt: isOver(request) ? null : later(now, MANUAL_REVOCATION_MS),
  }
  const stays = isOver(request) || request.status === 'PENDING_MANUAL_DEPROVISIONING'
  return {
    writes: [stays ? { set } : { to: 'PENDING_MANUAL_DEPROVISIONING', failure: problem, set }],
    effects: [
      { kind: 'close_tasks', as: 'DISMISSED' },
      {
        kind: 'open_task',
        task: 'revoke',
        assignees: 'admins',
        instructions: final(null, problem),
      },
      { kind: 'close_shared_account' },
    ],
  }
}

/** Asks people to act while automatic tries continue. */
export function askMeanwhile(
  request: RequestRow,
  instructions: string | null,
  problem: string,
): RequestTransition {
  const isGrant = request.pendingOperation === 'grant'
  const to = isGrant ? 'PENDING_MANUAL_PROVISIONING' : 'PENDING_MANUAL_DEPROVISIONING'
  const writes: RequestWrite[] =
    !isGrant && isOver(request) ? [] : [{ to, failure: problem, set: {} }]
  return {
    writes,
    effects: [
      {
        kind: 'open_task',
        task: isGrant ? 'grant' : 'revoke',
        assignees: 'admins',
        instructions: meanwhile(instructions, problem),
      },
      ...(isGrant ? [] : [{ kind: 'close_shared_account' } as const]),
    ],
  }
}
