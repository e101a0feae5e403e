/** Invariants that hold once no work is pending. */

import { standingOf } from '../../../../runtime/core/requests/machine/states.ts'
import type { RequestRow } from '../../../../runtime/database/schema/requests.ts'
import type { World } from './world.ts'

/** A description of each violated invariant. */
export async function broken(world: World): Promise<string[]> {
  const { system, before, email, permissions } = world
  const rows = await world.all()
  const open = await world.openTasks()
  const faults: string[] = []
  const expects = (holds: boolean, words: string) => {
    if (!holds) faults.push(words)
  }
  const describeRequest = (one: RequestRow) =>
    `${one.id} ${one.label ?? 'app'} ${one.status} how=${one.fulfilment} was=${one.preExisting} todo=${one.pendingOperation} ${one.problem ?? ''}`

  const accounts = system.accountsOf(email)
  expects(accounts.length <= 1, `there are ${accounts.length} accounts`)

  for (const request of rows) {
    const own = open.filter(({ accessRequestId }) => accessRequestId === request.id)
    expects(
      request.pendingOperation === null,
      `${describeRequest(request)}: an operation is still pending`,
    )
    expects(own.length <= 1, `${describeRequest(request)}: ${own.length} tasks are open`)
    const needsTask =
      standingOf(request.status) === 'asked' || request.status.startsWith('PENDING_MANUAL')
    if (needsTask) expects(own.length === 1, `${describeRequest(request)}: it has no open task`)
    // Work left by an ended request: its account is closed only when no other request needs it.
    const hasLeft =
      ['CANCELLED', 'DENIED_PROVISIONING'].includes(request.status) ||
      (request.label === null &&
        standingOf(request.status) === 'over' &&
        !rows.some(({ status }) => status === 'PROVISIONED' || status === 'COMPLETED'))
    expects(
      needsTask || hasLeft || own.length === 0,
      `${describeRequest(request)}: it has a task that nobody needs`,
    )
    expects(
      ![
        'PENDING',
        'APPROVED',
        'PENDING_PROVISIONING',
        'PENDING_DEPROVISIONING',
        'REVERTING',
      ].includes(request.status),
      `${describeRequest(request)}: its status is not a final one`,
    )
  }

  for (const request of rows) {
    const isRevoked = request.revokedById !== null
    const why = request.notes['REVERTING']
    expects(
      isRevoked === (why === 'It was shared'),
      `${describeRequest(request)}: it ended because of ${why}`,
    )
    const isWanted = standingOf(request.status) === 'wanted'
    expects(
      !isRevoked || !isWanted,
      `${describeRequest(request)}: its revoked access is wanted again`,
    )
  }

  /** Whether a person was asked to end the access, or decided to leave it. */
  const isForPeople = (one: RequestRow) =>
    open.some(({ accessRequestId }) => accessRequestId === one.id) ||
    one.status.startsWith('TIME_BASED_EXPIRED_') ||
    // A cancelled request stays cancelled; its problem says that the access could not be taken back.
    (standingOf(one.status) === 'over' && one.problem !== null) ||
    // People reported the manual work as done or as declined.
    one.fulfilment === 'manual' ||
    Object.hasOwn(one.notes, 'PENDING_MANUAL_PROVISIONING') ||
    Object.hasOwn(one.notes, 'PENDING_MANUAL_DEPROVISIONING')
  const isThere = ({ status }: RequestRow) => status === 'PROVISIONED' || status === 'COMPLETED'

  for (const { entitlementId } of permissions) {
    const what = entitlementId ?? ''
    const own = rows.filter(({ label }) => label === what)
    const held = system.holds(email, what)
    const words = `${what} is ${held ? '' : 'not '}held\n${own.map(describeRequest).join('\n')}`
    if (own.some(isThere)) expects(held, words)
    else if (own.some(isForPeople)) continue
    else expects(held === before.entitlements.has(what), words)
  }

  const forApp = rows.filter(({ label }) => label === null)
  const words = `the account is ${system.isOpen(email) ? '' : 'not '}open (before: ${before.account})\n${rows.map(describeRequest).join('\n')}`
  const closing = open.some(
    ({ accessRequestId, taskType }) =>
      taskType === 'MANUAL_DEPROVISIONING' && forApp.some(({ id }) => id === accessRequestId),
  )
  expects(
    !(closing && rows.some(isThere)),
    `a task asks people to close an account that is needed\n${words}`,
  )
  if (rows.some(isThere)) expects(system.isOpen(email), words)
  else if (before.account && !rows.some(isForPeople)) expects(system.isOpen(email), words)
  else if (forApp.length > 0 && forApp.length === rows.length && !rows.some(isForPeople))
    expects(system.isOpen(email) === before.account, words)
  return faults
}
