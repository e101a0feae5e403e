/** What is due for a request although nothing happened: its time to be decided, or to be held, is over. */

import type { Db } from '../../database/database.ts'
import { decisionEnd, lookForDeciders } from './decide.ts'
import type { RequestMeans } from './job-key.ts'
import { change, move, note, type RequestRow, systemOf } from './move.ts'
import { standingOf } from './states.ts'
import { closeTasks } from './tasks.ts'
import { leave } from './transitions.ts'

/** Goes on with a locked request whose moment has come; what is still to be done outside stays as it is. */
export async function handleExpiry(
  tx: Db,
  request: RequestRow,
  now: Date,
  means: RequestMeans,
): Promise<RequestRow> {
  const { status, expiresAt } = request
  if (request.todo !== null) return request
  if (standingOf(status) === 'asked') {
    if (now < decisionEnd(request)) return lookForDeciders(tx, request, now)
    await closeTasks(tx, request, 'EXPIRED')
    await note(tx, systemOf(request), request, 'APP_STORE_ACCESS_REQUEST_EXPIRED', {})
    return move(tx, request, 'EXPIRED', { note: 'Nobody decided in time', wakeAt: null })
  }
  if (status === 'COMPLETED' && expiresAt !== null && expiresAt <= now)
    return leave(tx, request, 'PENDING_DEPROVISIONING', null, means)
  if (status === 'PENDING_MANUAL_DEPROVISIONING') {
    await closeTasks(tx, request, 'EXPIRED')
    return move(tx, request, 'TIME_BASED_EXPIRED_FAILED', {
      note: 'Nobody took the access back in time',
      wakeAt: null,
    })
  }
  return change(tx, request, { wakeAt: null })
}
