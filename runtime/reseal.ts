/** Sealing anew what an older secret has sealed, so that the older one can be dropped. */
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { bound } from './core/apps/connections.ts'
import { boundTo } from './core/webhooks/secrets.ts'
import { type Db, isAway } from './database/database.ts'
import { boundToProbe } from './lifecycle/probes.ts'
import { SealError, type Sealer, sealedWith } from './seal.ts'

type Place = {
  table: string
  /** What a row is told apart by within its domain. */
  key: string
  /** What is sealed. */
  column: string
  bound(domainId: string, key: string): Buffer
  /** What to do where the secret is gone that has sealed it, and where it was altered. */
  lost: string
  altered: string
}

/** Everything that the vault seals and that is kept. */
const PLACES: readonly Place[] = [
  {
    table: 'apps',
    key: 'id',
    column: 'sealed_connection',
    bound: (domainId, id) => bound({ domainId, id }),
    lost: 'credentials of apps were sealed with keys (named here, with how many) that no secret of KEYWAY_SECRET makes: put those secrets back at the end of the list, or connect the apps again with PUT /apps/{id}',
    altered: 'kept credentials of apps were altered; connect them again',
  },
  {
    table: 'inline_webhooks',
    key: 'id',
    column: 'sealed',
    bound: (domainId, id) => boundTo({ domainId, id }),
    lost: 'secrets of inline webhooks were sealed with keys (named here, with how many) that no secret of KEYWAY_SECRET makes: put those secrets back at the end of the list, or give the webhooks their headers again with keyway webhooks update',
    altered: 'kept secrets of inline webhooks were altered; give them their headers again',
  },
  {
    table: 'probes',
    key: 'connector',
    column: 'sealed',
    bound: boundToProbe,
    lost: 'credentials that new versions are tried with were sealed with keys (named here, with how many) that no secret of KEYWAY_SECRET makes: put those secrets back at the end of the list, or give them again with keyway probe ID --as FILE',
    altered:
      'kept credentials that new versions are tried with were altered; give them again with keyway probe ID --as FILE',
  },
]

const NO_ID = '00000000-0000-0000-0000-000000000000'

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
export async function resealAll(db: Db, vault: Sealer, means: Reseal): Promise<void> {
  let resealed = 0
  for (const place of PLACES) resealed += await resealPlace(db, vault, place, means)
  if (resealed > 0) means.info({ resealed }, 'kept credentials were sealed with the newest secret')
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
  let after: Key = { domainId: NO_ID, key: NO_ID }
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
        after = row
      }
      if (rows.length < BATCH) break
      info({ resealed }, 'kept credentials are sealed with the newest secret')
    } catch (error) {
      if (!isAway(error)) throw error
      await pause(AWAY_MS, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  if (Object.keys(lost).length > 0) warn({ [place.table]: lost }, place.lost)
  if (altered > 0) warn({ [place.table]: altered }, place.altered)
  return resealed
}

type Key = { domainId: string; key: string }
type Sealed = Key & { sealed: Buffer }

/** What another key than the newest has sealed, in the order of domains and keys. */
async function olderThan(db: Db, vault: Sealer, place: Place, after: Key): Promise<Sealed[]> {
  const newest = Buffer.from(vault.keyId, 'hex')
  const [key, held] = [sql.identifier(place.key), sql.identifier(place.column)]
  const { rows } = await db.execute<Sealed>(sql`
    select domain_id as "domainId", ${key}::text as key, ${held} as sealed from ${sql.identifier(place.table)}
    where (domain_id, ${key}) > (${after.domainId}, ${after.key})
      and substring(${held} from 1 for ${newest.length}::int) <> ${newest}::bytea
    order by domain_id, ${key} limit ${BATCH}`)
  return rows
}

async function reseal(
  db: Db,
  vault: Sealer,
  place: Place,
  row: Sealed,
): Promise<'done' | 'key' | 'altered'> {
  try {
    const owner = place.bound(row.domainId, row.key)
    const sealed = vault.seal(vault.open(row.sealed, owner), owner)
    const [key, held] = [sql.identifier(place.key), sql.identifier(place.column)]
    await db.execute(sql`
      update ${sql.identifier(place.table)} set ${held} = ${sealed}::bytea
      where domain_id = ${row.domainId} and ${key} = ${row.key} and ${held} = ${row.sealed}::bytea`)
    return 'done'
  } catch (error) {
    if (error instanceof SealError) return error.why
    throw error
  }
}
