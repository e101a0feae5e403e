/** Sealing anew what an older secret has sealed, so that the older one can be dropped. */
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { type Db, isAway } from '../../database/database.ts'
import { SealError, type Sealer, sealedWith } from '../../seal.ts'
import { boundTo } from '../webhooks/secrets.ts'
import { bound } from './connections.ts'

type Owner = { id: string; domainId: string }

type Place = {
  table: string
  column: string
  bound(owner: Owner): Buffer
  /** What to do where the secret is gone that has sealed it, and where it was altered. */
  lost: string
  altered: string
}

/** Everything that the vault seals in the core's tables. */
const PLACES: readonly Place[] = [
  {
    table: 'apps',
    column: 'sealed_connection',
    bound,
    lost: 'credentials of apps were sealed with keys (named here, with how many) that no secret of KEYWAY_SECRET makes: put those secrets back at the end of the list, or connect the apps again with PUT /apps/{id}',
    altered: 'kept credentials of apps were altered; connect them again',
  },
  {
    table: 'inline_webhooks',
    column: 'sealed',
    bound: boundTo,
    lost: 'secrets of inline webhooks were sealed with keys (named here, with how many) that no secret of KEYWAY_SECRET makes: put those secrets back at the end of the list, or give the webhooks their headers again with keyway webhooks update',
    altered: 'kept secrets of inline webhooks were altered; give them their headers again',
  },
]

/** Rows that are read at once. */
const BATCH = 20
/** Pause before the database is asked again, in milliseconds. */
const AWAY_MS = 2000

type Told = (fields: object, text: string) => void
type Reseal = { signal: AbortSignal; info: Told; warn: Told }

/**
 * Seals with the newest secret what an older one has sealed. A row that was changed meanwhile is left as it
 * is: whoever changed it has sealed it with the newest. So several hosts may do this at once, and it may be
 * ended at any point.
 */
export async function resealConnections(db: Db, vault: Sealer, means: Reseal): Promise<void> {
  let resealed = 0
  for (const place of PLACES) resealed += await resealPlace(db, vault, place, means)
  if (resealed > 0) means.info({ resealed }, 'connections were sealed with the newest secret')
}

/** How many rows of one table were sealed anew. */
async function resealPlace(
  db: Db,
  vault: Sealer,
  place: Place,
  { signal, info, warn }: Reseal,
): Promise<number> {
  const lost: Record<string, number> = {}
  let resealed = 0
  let altered = 0
  let after = '00000000-0000-0000-0000-000000000000'
  while (!signal.aborted) {
    try {
      const rows = await olderThan(db, vault, place, after)
      for (const row of rows) {
        if (signal.aborted) return resealed
        const end = await reseal(db, vault, place, row)
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
  if (Object.keys(lost).length > 0) warn({ [place.table]: lost }, place.lost)
  if (altered > 0) warn({ [place.table]: altered }, place.altered)
  return resealed
}

type Sealed = Owner & { sealed: Buffer }

/** What another key than the newest has sealed, by id. */
async function olderThan(
  db: Db,
  vault: Sealer,
  { table, column }: Place,
  after: string,
): Promise<Sealed[]> {
  const key = Buffer.from(vault.keyId, 'hex')
  const held = sql.identifier(column)
  const { rows } = await db.execute<Sealed>(sql`
    select id, domain_id as "domainId", ${held} as sealed from ${sql.identifier(table)}
    where id > ${after} and substring(${held} from 1 for ${key.length}::int) <> ${key}::bytea
    order by id limit ${BATCH}`)
  return rows
}

async function reseal(
  db: Db,
  vault: Sealer,
  { table, column, bound: boundOf }: Place,
  row: Sealed,
): Promise<'done' | 'key' | 'altered'> {
  try {
    const sealed = vault.seal(vault.open(row.sealed, boundOf(row)), boundOf(row))
    const held = sql.identifier(column)
    await db.execute(sql`
      update ${sql.identifier(table)} set ${held} = ${sealed}::bytea
      where id = ${row.id} and ${held} = ${row.sealed}::bytea`)
    return 'done'
  } catch (error) {
    if (error instanceof SealError) return error.why
    throw error
  }
}
