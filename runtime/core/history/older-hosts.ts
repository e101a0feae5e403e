/**
 * Hosts of versions before migration 0056, which know only spans in `association_spans`. Associations that
 * they found without ending a run have no span at all. While they may run at the same time, all spans are
 * written for them.
 */
import { sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'

/** Timestamp of that migration (migrations/meta/_journal.json), which identifies migrations. */
export const SPANS_BY_RUN = 1_795_717_078_880

/** Maximum time that they may run alongside this version, in days (docs/operate/upgrade.md). */
const BESIDE_DAYS = 30

/** Reports whether there were such hosts, and whether there may be some now. */
export async function olderHosts(tx: Db): Promise<{ were: boolean; mayBe: boolean }> {
  // In a new database, the domain is created after the migrations.
  const { rows } = await tx.execute<{ were: boolean; may_be: boolean }>(sql`
    select v.at > d.created_at as were,
      v.at > d.created_at and v.at > now() - make_interval(days => ${BESIDE_DAYS}) as may_be
    from (select min(created_at) as at from deployment_versions where migrated_to >= ${SPANS_BY_RUN}) v,
      (select min(created_at) as created_at from domains) d`)
  return { were: rows[0]?.were === true, mayBe: rows[0]?.may_be === true }
}
