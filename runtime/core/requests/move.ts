/** Writes of access requests, all in one place. States change only through `apply` (apply.ts). */

import { and, eq, sql } from 'drizzle-orm'
import type { RequestStatus } from '../../contract/models/access-request.ts'
import { type Db, one } from '../../database/database.ts'
import { prepared } from '../../database/prepared.ts'
import { accessRequests, type RequestRow } from '../../database/schema/requests.ts'
import { requireMove } from '../machine/states.ts'
import type { RequestChange, RequestWrite } from './machine/request.ts'
import { failureMessage, REQUEST_STATES } from './machine/states.ts'

/** Writes columns of a locked request, except its state, and returns the new row. */
export async function change(
  tx: Db,
  request: RequestRow,
  values: RequestChange & Partial<Pick<RequestRow, 'status' | 'notes'>>,
): Promise<RequestRow> {
  const set = Object.entries(values).filter(
    (one): one is [ColumnName, never] => one[1] !== undefined,
  )
  const columns = set.map(([name]) => name).sort()
  const encoded = set.map(([name, value]) => [name, encode(name, value)])
  const written = { ...Object.fromEntries(encoded), ofRequest: request.id }
  return one(await changing(columns)(tx, written))
}

/**
 * Records that the webhook of an operation is being called, for a request that is not locked. Returns false
 * if the request has moved since it was read, so that the call is no longer wanted.
 */
export async function noteWebhookCall(
  db: Db,
  { id }: RequestRow,
  operation: 'grant' | 'remove',
): Promise<boolean> {
  const noted = await webhookCall(db, { id, operation })
  return noted.length > 0
}

const webhookCall = prepared('access request whose webhook is called', (db) =>
  db
    .update(accessRequests)
    .set({
      attempts: 1,
      updatedAt: sql`clock_timestamp()`,
      preExisting: sql`case when ${accessRequests.pendingOperation} = 'grant' then false else ${accessRequests.preExisting} end`,
    })
    .where(
      and(
        eq(accessRequests.id, sql.placeholder('id')),
        eq(accessRequests.pendingOperation, sql.placeholder('operation')),
        eq(accessRequests.attempts, 0),
      ),
    )
    .returning({ id: accessRequests.id }),
)

type ColumnName = keyof RequestRow

/** The cast is needed because `name` may be any column: the method wants a value that fits all of them. */
const encode = (name: ColumnName, value: unknown): unknown =>
  value === null ? null : accessRequests[name].mapToDriverValue(value as never)

type Changing = (tx: Db, values: Record<string, unknown>) => Promise<RequestRow[]>
/** Prepared statements by the columns they set; one per kind of write in the code. */
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
 * Moves a locked request to another state.
 *
 * @throws Error, which is a bug in Keyway, if REQUEST_STATES does not permit the move, for a failure in a
 * state without a text for requesters, and for a note in a state with one
 */
export async function move(
  tx: Db,
  request: RequestRow,
  to: RequestStatus,
  { note = null, failure = null, set }: Omit<RequestWrite, 'to'> = { set: {} },
): Promise<RequestRow> {
  if ((failureMessage(to) === null ? failure : note) !== null)
    throw new Error(`what is said of an access request that is ${to} has other readers`)
  requireMove('an access request', REQUEST_STATES, request.status, to)
  const notes = { ...request.notes, [to]: note ?? failure }
  return change(tx, request, { ...set, status: to, notes })
}
