/** The newest index that was seen of each registry: who serves one cannot go back behind it. */
import { and, eq, inArray, sql } from 'drizzle-orm'
import { conflict, notFound } from '../../contract/errors/problem.ts'
import { recordActivity } from '../../core/kernel/audit/activity.ts'
import type { Db } from '../../database/database.ts'
import { publishedIndexes, registryIndexes } from '../../database/schema/deployment.ts'
import { newest } from './generations.ts'
import type { OperateDeps } from './operating.ts'

type Seen = { key: string; version: number }

/**
 * Remembers an index, by the addresses of its registry. Which trusted key signed it does not count: after a change of the
 * key, the last index of the old one is an older one. By the key goes only what names no registry.
 *
 * @throws CoreError not_found for a key that is not trusted, conflict where a newer index was seen
 */
export async function seeIndex(
  { db, actor }: OperateDeps,
  { key, version, registries }: Seen & { registries: readonly string[] },
): Promise<Seen> {
  const { domainId } = actor
  const { publishers } = (await newest(db, domainId)).statement
  const publisher = publishers.find((one) => one.key === key && one.revoked_at === null)
  if (!publisher) throw notFound('Publisher')
  return db.transaction(async (tx) => {
    const demandNewest = async () => {
      const found = await newestSeen(tx, domainId, { key, registries })
      if (found === null || found.version <= version) return
      const by = publishers.find((one) => one.key === found.key)?.name ?? found.key
      throw conflict(
        `The index has the version ${version}, and ${found.version} of ${by} was seen here: it is an older one; use another mirror, or ask its publisher`,
      )
    }
    await demandNewest()
    const changed =
      registries.length === 0
        ? await rememberByKey(tx, domainId, { key, version })
        : await remember(tx, domainId, { key, version, registries })
    // Again: another may have seen a newer one meanwhile.
    await demandNewest()
    if (changed) {
      const target = { target_type: 'Publisher', name: publisher.name, id: key }
      await recordActivity(tx, actor, 'REGISTRY_INDEX_SEEN', [target], { version })
    }
    return { key, version }
  })
}

/** The newest that was seen at any of the addresses; of one that is new here, what was seen of the key before. */
async function newestSeen(
  tx: Db,
  domainId: string,
  { key, registries }: { key: string; registries: readonly string[] },
): Promise<Seen | null> {
  const here = await tx
    .select({ key: registryIndexes.key, version: registryIndexes.version })
    .from(registryIndexes)
    .where(
      and(
        eq(registryIndexes.domainId, domainId),
        inArray(registryIndexes.registry, [...registries]),
      ),
    )
  const [newestHere] = here.sort((a, b) => b.version - a.version)
  if (newestHere) return newestHere
  const [byKey] = await tx
    .select({ key: publishedIndexes.key, version: publishedIndexes.version })
    .from(publishedIndexes)
    .where(and(eq(publishedIndexes.domainId, domainId), eq(publishedIndexes.key, key)))
  return byKey ?? null
}

/** Whether something was new. */
async function remember(
  tx: Db,
  domainId: string,
  { key, version, registries }: Seen & { registries: readonly string[] },
): Promise<boolean> {
  // In one order: two at once wait for each other instead of for ever.
  const rows = [...registries].sort().map((registry) => ({ domainId, registry, key, version }))
  const written = await tx
    .insert(registryIndexes)
    .values(rows)
    .onConflictDoUpdate({
      target: [registryIndexes.domainId, registryIndexes.registry],
      set: { key, version, seenAt: sql`now()` },
      setWhere: sql`${registryIndexes.version} < ${version}`,
    })
    .returning({ registry: registryIndexes.registry })
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
