/** Time limits of a request: the end of the time to decide or to hold the access. */
import type { Db } from '../../database/database.ts'
import type { RequestRow } from '../../database/schema/requests.ts'
import { apply } from './apply.ts'
import { ensureDeciders } from './decide.ts'
import { decisionEnd } from './machine/deciding.ts'
import { standingOf } from './machine/states.ts'
import type { RequestDeps } from './request-deps.ts'

/** Advances a locked request that is due. A pending operation is left unchanged. */
export async function handleExpiry(
  tx: Db,
  request: RequestRow,
  now: Date,
  deps: RequestDeps,
): Promise<RequestRow> {
  if (request.pendingOperation !== null) return request
  const isAsked = standingOf(request.status) === 'asked'
  if (isAsked && now < decisionEnd(request)) return ensureDeciders(tx, request, now, deps)
  return apply(tx, request, { kind: dueEvent(request, now) }, deps, now)
}

function dueEvent({ status, expiresAt }: RequestRow, now: Date) {
  if (standingOf(status) === 'asked') return 'decision_expired'
  if (status === 'COMPLETED' && expiresAt !== null && expiresAt <= now) return 'access_expired'
  return status === 'PENDING_MANUAL_DEPROVISIONING' ? 'revocation_expired' : 'nothing_due'
}
