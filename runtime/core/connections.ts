/**
 * What connects an app to its system, kept sealed: opened for the length of a call, told to nobody. A
 * sealed connection is bound to its domain and app, so that it opens in no other row.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import type { CapabilityName } from '../contract/capabilities.ts'
import type { Connection } from '../contract/connection.ts'
import { CoreError } from '../contract/endpoints/problem.ts'
import { type Db, isAway } from '../database/database.ts'
import { apps } from '../database/schema/apps.ts'
import { SealError, type Sealer, sealedWith } from '../seal.ts'
import type { ConnectorAnswer } from './connectors.ts'
import type { RequestParts } from './parts.ts'

type AppRow = typeof apps.$inferSelect
type Owner = Pick<AppRow, 'id' | 'domainId'>

const bound = ({ id, domainId }: Owner): Buffer => Buffer.from(`connection ${domainId} ${id}`)

/** A connection as it is stored in the app's row. */
export const keepConnection = (vault: Sealer, app: Owner, connection: Connection): Buffer =>
  vault.seal(JSON.stringify(connection), bound(app))

/**
 * The connection of an app.
 *
 * @throws CoreError 409 when there is none, or it cannot be opened; the text says what to do.
 */
export function openConnection(
  vault: Sealer,
  app: Owner & Pick<AppRow, 'sealedConnection'>,
): Connection {
  if (app.sealedConnection === null) throw new CoreError(409, 'This app is not connected')
  try {
    return JSON.parse(vault.open(app.sealedConnection, bound(app)))
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    throw new CoreError(
      409,
      error.why === 'key'
        ? `The credentials of this app were sealed with the key ${error.keyId}, which no secret of KEYWAY_SECRET makes any more; put that secret back at the end of the list, or connect the app again with PUT /apps/${app.id}`
        : `The kept credentials of this app were altered, or belong to another app; connect it again with PUT /apps/${app.id}`,
      {},
      error,
    )
  }
}

/**
 * Calls a capability for a connected app.
 *
 * @throws CoreError 409 when the app has no connection that can be opened. What goes wrong with the
 *   connector or its system is an answer.
 */
export async function callApp(
  { connectors, vault, requestId, signal }: RequestParts,
  app: Owner & Pick<AppRow, 'sealedConnection' | 'connectorId'>,
  capability: CapabilityName,
  call: { request: Record<string, unknown>; page?: { token: string | null; size: number | null } },
): Promise<ConnectorAnswer> {
  const connection = openConnection(vault, app)
  if (app.connectorId === null) throw new CoreError(409, 'This app is not connected')
  return connectors.call({
    connectorId: app.connectorId,
    capability,
    body: { ...connection, ...call },
    requestId,
    signal,
  })
}

/** Rows that are read at once. */
const BATCH = 20
/** Pause before the database is asked again, in milliseconds. */
const AWAY_MS = 2000

type Told = (fields: object, text: string) => void
type Reseal = { signal: AbortSignal; info: Told; warn: Told }

/**
 * Seals with the newest secret what an older one has sealed, so that the older one can be dropped. A row
 * that was changed meanwhile is left as it is: whoever changed it has sealed it with the newest. So
 * several hosts may do this at once, and it may be ended at any point.
 */
export async function resealConnections(
  db: Db,
  vault: Sealer,
  { signal, info, warn }: Reseal,
): Promise<void> {
  const lost: Record<string, number> = {}
  let resealed = 0
  let altered = 0
  let after = '00000000-0000-0000-0000-000000000000'
  while (!signal.aborted) {
    try {
      const rows = await olderThan(db, vault, after)
      for (const row of rows) {
        if (signal.aborted) return
        const end = await reseal(db, vault, row)
        if (end === 'key') {
          const key = sealedWith(row.sealed)
          lost[key] = (lost[key] ?? 0) + 1
        } else if (end === 'altered') altered += 1
        else resealed += 1
        after = row.id
      }
      if (rows.length < BATCH) break
      info({ resealed }, 'connections are sealed with the newest secret')
    } catch (error) {
      if (!isAway(error)) throw error
      await pause(AWAY_MS, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  if (resealed > 0) info({ resealed }, 'connections were sealed with the newest secret')
  if (Object.keys(lost).length > 0)
    warn(
      { apps: lost },
      'credentials of apps were sealed with keys (named here, with how many) that no secret of KEYWAY_SECRET makes: put those secrets back at the end of the list, or connect the apps again with PUT /apps/{id}',
    )
  if (altered > 0)
    warn({ apps: altered }, 'kept credentials of apps were altered; connect them again')
}

type Sealed = Owner & { sealed: Buffer }

/** Connections that another key than the newest has sealed, by app id. */
async function olderThan(db: Db, vault: Sealer, after: string): Promise<Sealed[]> {
  const key = Buffer.from(vault.keyId, 'hex')
  const rows = await db
    .select({ id: apps.id, domainId: apps.domainId, sealed: apps.sealedConnection })
    .from(apps)
    .where(
      and(
        gt(apps.id, after),
        sql`substring(${apps.sealedConnection} from 1 for ${key.length}::int) <> ${key}::bytea`,
      ),
    )
    .orderBy(asc(apps.id))
    .limit(BATCH)
  return rows as Sealed[]
}

async function reseal(db: Db, vault: Sealer, row: Sealed): Promise<'done' | 'key' | 'altered'> {
  try {
    const sealed = vault.seal(vault.open(row.sealed, bound(row)), bound(row))
    await db
      .update(apps)
      .set({ sealedConnection: sealed, updatedAt: sql`${apps.updatedAt}` })
      .where(and(eq(apps.id, row.id), eq(apps.sealedConnection, row.sealed)))
    return 'done'
  } catch (error) {
    if (error instanceof SealError) return error.why
    throw error
  }
}
