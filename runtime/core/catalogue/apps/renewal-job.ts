/**
 * Renewal of access tokens of connected apps before they expire. Simultaneous hosts make one request: equal
 * refreshes are shared (egress/oauth/perform.ts), and each host compares the stored connection again before
 * it writes.
 */

import { and, eq, lte, sql } from 'drizzle-orm'
import type { Connection } from '../../../contract/connector/connection.ts'
import { CoreError } from '../../../contract/errors/problem.ts'
import type { Db } from '../../../database/database.ts'
import { type AppRow, apps, tokenRenewals } from '../../../database/schema/apps.ts'
import { databaseTime } from '../../../database/transactions.ts'
import type { JobHandler } from '../../kernel/background/turn.ts'
import { responseOf } from '../../kernel/context/connectors.ts'
import type { RequestContext } from '../../kernel/context/context.ts'
import { pauseMs, RETRY_SCHEDULES } from '../../kernel/jobs/retry-schedules.ts'
import { keptText } from '../../kernel/kept-text.ts'
import { openErrorTask } from '../../tasks/error-task.ts'
import { keepConnection, openConnection } from './connections.ts'
import { callNow } from './outages.ts'
import { renewAfterSeconds, renewalsOf, withTokens } from './renewal.ts'

const { tellAfter: TELL_AFTER, endAfter: GIVE_UP_AFTER } = RETRY_SCHEDULES['token-renewal']

/** Maximum length of a stored failure message, in characters. */
const MAX_PROBLEM = 1000

const isDue = lte(tokenRenewals.renewAt, sql`clock_timestamp()`)

export const RENEWAL_JOB: JobHandler = {
  handle: renew,
  async due(db) {
    const rows = await db
      .select({ id: tokenRenewals.appId })
      .from(tokenRenewals)
      .where(isDue)
      .orderBy(tokenRenewals.renewAt)
      .limit(100)
    return rows.map(({ id }) => id)
  },
  // It stays due, and is found again.
  gaveUp: async () => {},
}

async function renew(db: Db, appId: string, parts: RequestContext): Promise<void> {
  const [found] = await db
    .select({ app: apps })
    .from(tokenRenewals)
    .innerJoin(apps, eq(apps.id, tokenRenewals.appId))
    .where(and(eq(tokenRenewals.appId, appId), isDue))
  if (!found) return
  const problem = await renewAll(db, found.app, parts)
  if (problem !== null) await failed(db, found.app, keptText(problem, MAX_PROBLEM), parts)
}

/** Renews all tokens of an app. Returns a description of a failure, or null. */
async function renewAll(db: Db, app: AppRow, parts: RequestContext): Promise<string | null> {
  const connector = app.connectorId === null ? null : parts.connectors.find(app.connectorId)
  if (!connector) return `the connector ${app.connectorId} is not served`
  const opened = open(app, parts)
  if (typeof opened === 'string') return opened
  let connection = opened
  let kept = app.sealedConnection
  const seconds: number[] = []
  const calls = renewalsOf(connector.manifest, connection)
  if (calls.length === 0) await plan(db, app.id, [])
  for (const [index, call] of calls.entries()) {
    const answer = await parts.connectors.call({
      connectorId: connector.id,
      capability: call.capability,
      body: { settings: connection.settings, request: call.request, include_raw_data: true },
      requestId: parts.requestId,
      cause: { kind: 'token_renewal', id: app.id },
      appId: app.id,
      signal: parts.signal,
    })
    // The host stops. The next one requests the same answer.
    if (parts.signal.aborted) throw parts.signal.reason
    if (!answer.ok) return answer.error.message
    connection = withTokens(connection, call.id, responseOf(call.capability, answer))
    seconds.push(renewAfterSeconds(answer.raw?.['expires_in']))
    const sealed = keepConnection(parts.vault, app, connection)
    const before = kept
    // Store it before the next call: the previous refresh token is spent.
    const replaced = await db.transaction(async (tx) => {
      if (!(await replace(tx, app, before, sealed))) return false
      // In the same transaction: a host that saw the new token while it still seemed due would renew it
      // again.
      if (index === calls.length - 1) {
        await plan(tx, app.id, seconds)
        // An outage may be waiting for it.
        await callNow(tx, app.id, await databaseTime(tx))
      }
      return true
    })
    if (!replaced) return null
    kept = sealed
  }
  return null
}

/** Returns the connection, or the reason why it cannot be opened. */
function open(app: AppRow, { vault }: RequestContext): Connection | string {
  try {
    return openConnection(vault, app)
  } catch (error) {
    // The operator has to correct this.
    if (error instanceof CoreError) return error.message
    throw error
  }
}

/** Replaces the connection from which the new one was made. Returns false if that is no longer stored. */
async function replace(db: Db, app: AppRow, before: Buffer | null, sealed: Buffer) {
  if (before === null) return false
  const changed = await db
    .update(apps)
    .set({ sealedConnection: sealed, updatedAt: sql`${apps.updatedAt}` })
    .where(and(eq(apps.id, app.id), eq(apps.sealedConnection, before)))
    .returning({ id: apps.id })
  return changed.length > 0
}

/** Plans the next renewal, or none if there is nothing to renew, as after an upgrade of the connector. */
async function plan(db: Db, appId: string, seconds: number[]): Promise<void> {
  const after = sql`clock_timestamp() + make_interval(secs => ${Math.min(...seconds)})`
  await db
    .update(tokenRenewals)
    .set({ renewAt: seconds.length === 0 ? null : after, attempts: 0, problem: null })
    .where(eq(tokenRenewals.appId, appId))
}

async function failed(
  db: Db,
  app: AppRow,
  problem: string,
  { tell }: RequestContext,
): Promise<void> {
  const attempts = await db.transaction(async (tx) => {
    const [row] = await tx
      .select()
      .from(tokenRenewals)
      .where(and(eq(tokenRenewals.appId, app.id), isDue))
      .for('update')
    // Another host was faster, or the app was reconnected.
    if (!row) return 0
    const attempts = row.attempts + 1
    const seconds = pauseMs('token-renewal', attempts) / 1000
    const next = sql`clock_timestamp() + make_interval(secs => ${seconds})`
    await tx
      .update(tokenRenewals)
      .set({ attempts, problem, renewAt: attempts < GIVE_UP_AFTER ? next : null })
      .where(eq(tokenRenewals.appId, app.id))
    if (attempts === TELL_AFTER) await tellAdmins(tx, app, problem)
    return attempts
  })
  const told = TOLD[attempts]
  if (told) tell(attempts === GIVE_UP_AFTER ? 'error' : 'warn', { app_id: app.id }, told)
}

/** Log messages by number of consecutive failures. */
const TOLD: Readonly<Record<number, string>> = {
  1: 'the access token of an app could not be renewed; Keyway will try again',
  [TELL_AFTER]: 'the access token of an app could not be renewed; its admins have a task',
  [GIVE_UP_AFTER]:
    'the access token of an app could not be renewed and Keyway has given up; reconnect the app',
}

function tellAdmins(tx: Db, app: AppRow, problem: string): Promise<string> {
  return openErrorTask(tx, app.domainId, {
    taskType: 'TOKEN_NOT_RENEWED',
    description: `The access token of “${keptText(app.name, 200)}” could not be renewed: ${problem}`,
    instructions: `Keyway keeps trying for two days. If the consent was withdrawn, or the OAuth client has changed, reconnect the app with PUT /apps/${app.id}.`,
    app,
  })
}
