/** The one place where the state of an access request changes. */

import { eq, sql } from 'drizzle-orm'
import type { RequestStatus } from '../../contract/models/access-request.ts'
import type { Db } from '../../database/database.ts'
import { prepared } from '../../database/prepared.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import { beginReason, endReason } from '../history/reasons.ts'
import { type ActivityOutcome, type Actor, recordActivity } from '../kernel/audit/activity.ts'
import { keptText } from '../kernel/kept-text.ts'
import { failedWords, mayMove, standingOf } from './states.ts'

export type RequestRow = typeof accessRequests.$inferSelect

/** What is changed together with a state. */
export type RequestChange = Partial<
  Pick<
    RequestRow,
    | 'stage'
    | 'expiresAt'
    | 'todo'
    | 'how'
    | 'entitlement'
    | 'carriedAppId'
    | 'wasThere'
    | 'attempts'
    | 'failingSince'
    | 'problem'
    | 'wakeAt'
  >
>

/** Changes a locked request and answers it as it is then. */
export async function change(
  tx: Db,
  request: RequestRow,
  values: RequestChange & Partial<Pick<RequestRow, 'status' | 'notes'>>,
): Promise<RequestRow> {
  const set = Object.entries({ ...values, updatedAt: new Date() }).filter(
    (one): one is [ColumnName, never] => one[1] !== undefined,
  )
  const columns = set.map(([name]) => name).sort()
  const encoded = set.map(([name, value]) => [name, encode(name, value)])
  const [row] = await changing(columns)(tx, {
    ...Object.fromEntries(encoded),
    ofRequest: request.id,
  })
  return row as RequestRow
}

type ColumnName = keyof RequestRow

/** The cast: `name` may be any column, so the type of the method asks for a value that fits all of them. */
const encode = (name: ColumnName, value: unknown): unknown =>
  value === null ? null : accessRequests[name].mapToDriverValue(value as never)

type Changing = (tx: Db, values: Record<string, unknown>) => Promise<unknown[]>
/** Statements by the columns that they set: as many as there are calls of `change` in the code. */
const changes = new Map<string, Changing>()

function changing(columns: readonly ColumnName[]): Changing {
  const key = columns.join(' ')
  const known = changes.get(key)
  if (known) return known
  const set = Object.fromEntries(columns.map((name) => [name, sql`${sql.placeholder(name)}`]))
  const made = prepared(`access request change ${changes.size}`, (db) =>
    db
      .update(accessRequests)
      .set(set)
      .where(eq(accessRequests.id, sql.placeholder('ofRequest')))
      .returning(),
  )
  changes.set(key, made)
  return made
}

/**
 * Moves a locked request into another state, with what was said: `note` for everybody who sees the request,
 * `failure` for those who may read the tasks of its app.
 *
 * @throws Error for a move that REQUEST_STATES does not have, and for a failure in a state that has no words
 *   for requesters, or a note in one that has: a defect of ours.
 */
export async function move(
  tx: Db,
  request: RequestRow,
  to: RequestStatus,
  {
    note = null,
    failure = null,
    ...values
  }: RequestChange & { note?: string | null; failure?: string | null } = {},
): Promise<RequestRow> {
  if ((failedWords(to) === null ? failure : note) !== null)
    throw new Error(`what is said of an access request that is ${to} has other readers`)
  if (!mayMove(request.status, to))
    throw new Error(`an access request that is ${request.status} cannot become ${to}`)
  const notes = { ...request.notes, [to]: note ?? failure }
  const moved = await change(tx, request, { ...values, status: to, notes })
  if (to === 'PROVISIONED') await beginReason(tx, moved)
  else if (standingOf(to) === 'over' && standingOf(request.status) === 'unwanted')
    await endReason(tx, moved)
  return moved
}

/** In whose name the host itself acts. */
export const systemOf = ({ domainId }: Pick<RequestRow, 'domainId'>): Actor => ({
  domainId,
  userId: null,
})

/** A request in the log. */
export const requestTarget = ({ id, label }: Pick<RequestRow, 'id' | 'label'>) => ({
  target_type: 'AccessRequest',
  name: keptText(label ?? 'app access', 200),
  id,
})

/** Records what happened to a request, under the names of core-interface.md section 1.17 where it has one. */
export const note = (
  tx: Db,
  actor: Actor,
  request: RequestRow,
  event: string,
  metadata: Record<string, unknown>,
  outcome: ActivityOutcome = 'Succeeded',
): Promise<void> =>
  recordActivity(
    tx,
    actor,
    event,
    [requestTarget(request)],
    { app_id: request.appId, target_user_id: request.targetUserId, ...metadata },
    outcome,
  )

/** The next moment after another, at most so far. */
export const later = (now: Date, ms: number): Date => new Date(now.getTime() + ms)
