/** Standings of accounts read while access is granted or revoked, so that lists show them before a sync. */

import { sql } from 'drizzle-orm'
import type { AccountStanding } from '../../contract/models/app.ts'
import type { Db } from '../../database/database.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import { recordReadings } from '../history/spans.ts'
import { idsOf } from '../kernel/by-id.ts'
import type { RequestContext } from '../kernel/context/context.ts'

/** Standings of accounts that no longer exist. */
export const GONE = [
  'DEPROVISIONED',
  'MANUALLY_REMOVED',
  'ACCESS_REMOVED',
  'ARCHIVED',
] as const satisfies AccountStanding[]

/** Standings of accounts that cannot be used now. */
const UNUSABLE: readonly AccountStanding[] = [...GONE, 'SUSPENDED']

/** Stores whether known accounts can be used, and notifies listeners. Unchanged standings are not written. */
export async function keepStandings(
  db: Db,
  { id: appId, domainId }: AppRow,
  standings: ReadonlyMap<string, AccountStanding>,
  { listeners }: Pick<RequestContext, 'listeners'>,
): Promise<void> {
  if (standings.size === 0) return
  const [ids, read] = [[...standings.keys()], [...standings.values()]]
  const unusable = sql`any(${sql.param([...UNUSABLE])}::text[])`
  await db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ id: string }>(sql`
      update accounts set status = found.status, updated_at = now()
      from unnest(${sql.param(ids)}::text[], ${sql.param(read)}::text[]) as found(id, status)
      where accounts.app_id = ${appId} and accounts.unique_identifier = found.id and accounts.gone_at is null
        and (found.status = ${unusable}) is distinct from (coalesce(accounts.status, '') = ${unusable})
      returning accounts.id`)
    if (rows.length === 0) return
    await recordReadings(tx, idsOf(rows))
    await listeners.accessChanged(tx, { domainId, appId })
  })
}
