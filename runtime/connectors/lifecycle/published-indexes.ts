/** The newest index seen of each registry and key, so that a registry cannot serve an older one. */
import { and, desc, eq, inArray, sql } from 'drizzle-orm'
import { isFromFuture } from '../../contract/endpoints/published-indexes.ts'
import { conflict, notFound } from '../../contract/errors/problem.ts'
import { recordActivity } from '../../core/kernel/audit/activity.ts'
import type { Db } from '../../database/database.ts'
import { lockUntilEnd } from '../../database/locks.ts'
import { publishedIndexes, registryIndexes } from '../../database/schema/deployment.ts'
import { newest } from './generations.ts'
import type { OperateDeps } from './operating.ts'

type Seen = { key: string; version: number }
/** The same for some addresses; empty if the caller names no registry. */
type SeenAt = Seen & { registries: readonly string[] }

/** Maximum number of remembered registry addresses, each with all its keys. The last seen are kept. */
const MAX_REGISTRIES = 1000

/**
 * Records an index by the addresses of its registry and the key that signed it. Each registry of a key counts
 * for itself, and each key of a registry too: otherwise a mirror could serve the index of another publisher
 * and lock the real one out.
 *
 * @throws CoreError `not_found` for an untrusted key, `conflict` if a newer index was seen
 */
export async function seeIndex({ db, actor }: OperateDeps, index: SeenAt): Promise<Seen> {
  const { domainId } = actor
  const { key, version } = index
  return db.transaction(async (tx) => {
    // No key is trusted or distrusted until the end of the transaction.
    await tx.execute(lockUntilEnd('changing what is installed'))
    const { publishers } = (await newest(tx, domainId)).statement
    const publisher = publishers.find((one) => one.key === key && one.revoked_at === null)
    if (!publisher) throw notFound('Publisher')
    if (isFromFuture(version, new Date()))
      throw conflict(`The index has the version ${version}, which is to come`)
    const requireNewest = async () => {
      const found = await newestSeen(tx, domainId, index)
      if (found !== null && found > version)
        throw conflict(
          `The index has the version ${version}, and ${found} of ${publisher.name} was seen here: it is an older one; use another mirror, or ask its publisher`,
        )
    }
    await requireNewest()
    const changed =
      index.registries.length === 0
        ? await rememberByKey(tx, domainId, index)
        : await remember(tx, domainId, index)
    // Check again: another operation may have seen a newer one in between.
    await requireNewest()
    if (changed) {
      const target = { target_type: 'Publisher', name: publisher.name, id: key }
      await recordActivity(tx, actor, 'REGISTRY_INDEX_SEEN', [target], { version })
    }
    return { key, version }
  })
}

/**
 * Returns the newest index of the key seen at any of the addresses. For a new registry, the newest one seen
 * of the key elsewhere.
 */
async function newestSeen(
  tx: Db,
  domainId: string,
  { key, registries }: SeenAt,
): Promise<number | null> {
  const [here] = await tx
    .select({ version: registryIndexes.version })
    .from(registryIndexes)
    .where(
      and(
        eq(registryIndexes.domainId, domainId),
        eq(registryIndexes.key, key),
        inArray(registryIndexes.registry, [...registries]),
      ),
    )
    .orderBy(desc(registryIndexes.version))
    .limit(1)
  if (here) return here.version
  const [byKey] = await tx
    .select({ version: publishedIndexes.version })
    .from(publishedIndexes)
    .where(and(eq(publishedIndexes.domainId, domainId), eq(publishedIndexes.key, key)))
  return byKey?.version ?? null
}

/** Records the index. Returns whether something was new. */
async function remember(
  tx: Db,
  domainId: string,
  { key, version, registries }: SeenAt,
): Promise<boolean> {
  // In a fixed order, so that two transactions do not deadlock.
  const rows = [...registries].sort().map((registry) => ({ domainId, registry, key, version }))
  const written = await tx
    .insert(registryIndexes)
    .values(rows)
    .onConflictDoUpdate({
      target: [registryIndexes.domainId, registryIndexes.registry, registryIndexes.key],
      set: { version, seenAt: sql`now()` },
      setWhere: sql`${registryIndexes.version} < ${version}`,
    })
    .returning({ registry: registryIndexes.registry })
  await tx.execute(sql`
    delete from registry_indexes where domain_id = ${domainId} and (registry, key) in (
      select registry, key from registry_indexes where domain_id = ${domainId}
      order by seen_at desc, registry, key offset ${MAX_REGISTRIES})`)
  return written.length > 0
}

async function rememberByKey(tx: Db, domainId: string, { key, version }: Seen): Promise<boolean> {
  const written = await tx
    .insert(publishedIndexes)
    .values({ domainId, key, version })
    .onConflictDoUpdate({
      target: [publishedIndexes.domainId, publishedIndexes.key],
      set: { version, seenAt: sql`now()` },
      setWhere: sql`${publishedIndexes.version} < ${version}`,
    })
    .returning({ key: publishedIndexes.key })
  return written.length > 0
}
