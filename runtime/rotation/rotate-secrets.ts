/** Reseals values that an older secret sealed, so that the older secret can be dropped. */
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { mayRenew, recordLaggingHost } from '../core/kernel/deployment/deployment.ts'
import type { Db } from '../database/database.ts'
import { isDatabaseUnavailable } from '../database/unavailable.ts'
import { SealError, type Sealer, sealedWith } from '../secrets/seal.ts'
import { lostTokens, rotationOf } from './rotation.ts'
import { SEALED_PLACES, type SealedPlace } from './sealed-places.ts'

const NO_ID = '00000000-0000-0000-0000-000000000000'

/** Number of rows read at once. */
const BATCH = 20
/** Pause before the database is queried again after it was unavailable, in milliseconds. */
const AWAY_MS = 2000

type Told = (fields: object, text: string) => void
type Reseal = { signal: AbortSignal; info: Told; warn: Told }

/** Interval between two checks of the progress of a rotation, in milliseconds. */
const LOOK_MS = 5000

type Host = { first: Promise<void>; db(): Db | null } | null
type Deps = { signal: AbortSignal; log: { info: Told; warn: Told; error: Told } }

/** Follows a rotation from when the database is available until the host stops. Errors are logged. */
export async function followRotation(
  database: Host,
  vault: Sealer,
  { signal, log }: Deps,
): Promise<void> {
  await database?.first
  const db = database?.db()
  if (!db) return
  const deps = { signal, info: log.info.bind(log), warn: log.warn.bind(log) }
  await keepSealing(db, vault, deps).catch((error) => {
    if (!signal.aborted) log.error({ err: error }, 'sealing kept credentials again failed')
  })
}

/**
 * Reseals all stored values with the newest secret while the host has more than one. Repeats this, because
 * other hosts may still seal with an older one, and logs when the older ones can be dropped. Ends with
 * `signal`, or at once if there is only one secret.
 */
async function keepSealing(db: Db, vault: Sealer, deps: Reseal): Promise<void> {
  const { signal, info, warn } = deps
  const { keyIds } = vault
  await resealAll(db, vault, deps)
  const lost = await lostTokens(db, keyIds)
  if (lost > 0) warn({ api_tokens: lost }, LOST_TOKENS)
  let told = ''
  while (keyIds.length > 1 && !signal.aborted) {
    try {
      await recordLaggingHost(db)
      const rotation = await rotationOf(db, keyIds)
      const { needed, page_tokens_until, hosts_behind, safe_to_drop } = rotation
      const state = JSON.stringify([safe_to_drop, hosts_behind, Object.values(needed).map(Boolean)])
      if (told !== state) {
        if (safe_to_drop) info({ newest: rotation.newest }, SAFE)
        else info({ needed, page_tokens_until, hosts_behind }, NEEDED)
      }
      told = state
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error
    }
    await pause(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined)
    if (!signal.aborted) await resealAll(db, vault, { ...deps, warn: () => {} })
  }
}

const SAFE = 'nothing needs the older secrets of KEYWAY_SECRET any more: it is safe to drop them'
const NEEDED =
  'older secrets of KEYWAY_SECRET are still needed: do not drop them yet; keyway rotation says by what'
const LOST_TOKENS =
  'API tokens were hashed with a secret that KEYWAY_SECRET does not have any more, and do not work: put it back at the end of the list, or revoke them with keyway rotation --end-tokens'

/**
 * Reseals values that an older secret sealed. A row that changes in the meantime is skipped, because the
 * change has sealed it with the newest secret. Several hosts may thus do this at once, and it may be
 * interrupted at any point. Nothing is done while another host does not know the newest secret.
 */
export async function resealAll(db: Db, vault: Sealer, deps: Reseal): Promise<void> {
  let resealed = 0
  for (const place of SEALED_PLACES) resealed += await resealPlace(db, vault, place, deps)
  if (resealed > 0) deps.info({ resealed }, 'kept credentials were sealed with the newest secret')
}

/** Reseals the values of one table and returns their number. */
async function resealPlace(
  db: Db,
  vault: Sealer,
  place: SealedPlace,
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
        else if (end === 'done') resealed += 1
        after = row
      }
      if (rows.length < BATCH) break
      info({ resealed }, 'kept credentials are sealed with the newest secret')
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error
      await pause(AWAY_MS, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  if (Object.keys(lost).length > 0) warn({ [place.table]: lost }, place.lost)
  if (altered > 0) warn({ [place.table]: altered }, place.altered)
  return resealed
}

type Key = { domainId: string; key: string }
type Sealed = Key & { sealed: Buffer }

/** Returns values that were not sealed with the newest key, ordered by domain and key. */
async function olderThan(db: Db, vault: Sealer, place: SealedPlace, after: Key): Promise<Sealed[]> {
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
  place: SealedPlace,
  row: Sealed,
): Promise<'done' | 'left' | 'key' | 'altered'> {
  try {
    const owner = place.bound(row.domainId, row.key)
    const sealed = vault.seal(vault.open(row.sealed, owner), owner)
    const [key, held] = [sql.identifier(place.key), sql.identifier(place.column)]
    const { rowCount } = await db.execute(sql`
      update ${sql.identifier(place.table)} set ${held} = ${sealed}::bytea
      where domain_id = ${row.domainId} and ${key} = ${row.key} and ${held} = ${row.sealed}::bytea
        and ${mayRenew(vault.keyId)}`)
    return rowCount === 1 ? 'done' : 'left'
  } catch (error) {
    if (error instanceof SealError) return error.why
    throw error
  }
}
