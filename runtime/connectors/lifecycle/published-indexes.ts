/** The newest index that was seen of each trusted publisher: who serves a registry cannot go back behind it. */
import { sql } from 'drizzle-orm'
import { conflict, notFound } from '../../contract/errors/problem.ts'
import { recordActivity } from '../../core/kernel/audit/activity.ts'
import { publishedIndexes } from '../../database/schema/deployment.ts'
import { newest } from './generations.ts'
import type { OperateDeps } from './operating.ts'

/**
 * Remembers an index.
 *
 * @throws CoreError not_found for a key that is not trusted, conflict where a newer index was seen
 */
export async function seeIndex(
  { db, actor }: OperateDeps,
  { key, version }: { key: string; version: number },
): Promise<{ key: string; version: number }> {
  const { domainId } = actor
  const { publishers } = (await newest(db, domainId)).statement
  const publisher = publishers.find((one) => one.key === key && one.revoked_at === null)
  if (!publisher) throw notFound('Publisher')
  return db.transaction(async (tx) => {
    const [written] = await tx
      .insert(publishedIndexes)
      .values({ domainId, key, version })
      .onConflictDoUpdate({
        target: [publishedIndexes.domainId, publishedIndexes.key],
        set: { version, seenAt: sql`now()` },
        setWhere: sql`${publishedIndexes.version} < ${version}`,
      })
      .returning()
    if (written) {
      const target = { target_type: 'Publisher', name: publisher.name, id: key }
      await recordActivity(tx, actor, 'REGISTRY_INDEX_SEEN', [target], { version })
      return { key, version }
    }
    const [seen] = await tx
      .select({ version: publishedIndexes.version })
      .from(publishedIndexes)
      .where(sql`${publishedIndexes.domainId} = ${domainId} and ${publishedIndexes.key} = ${key}`)
    if (seen && seen.version > version)
      throw conflict(
        `The index has the version ${version}, and ${seen.version} of ${publisher.name} was seen: it is an older one; use another mirror, or ask its publisher`,
      )
    return { key, version }
  })
}
