/** References to a webhook, as text. */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import type { WebhookRow } from '../../database/schema/app_store.ts'

/** Maximum number of references that are listed. */
const MAX_NAMED = 10

/** Returns the settings of apps, permissions and rules that refer to a webhook. */
export async function usesOfWebhook(
  db: Db,
  { id, domainId }: Pick<WebhookRow, 'id' | 'domainId'>,
): Promise<string[]> {
  const { rows } = await db.execute<{ what: string; name: string; id: string }>(sql`
    select 'the settings of the app' as what, apps.name, apps.id
      from app_store_settings s join apps on apps.id = s.app_id
      where s.domain_id = ${domainId} and ${holds(sql`s.document`, id)}
    union all
    select 'the permission', p.label, p.id from requestable_permissions p
      where p.domain_id = ${domainId} and ${holds(sql`p.document`, id)}
    union all
    select 'a pre-approval rule of the app', apps.name, r.id
      from pre_approval_rules r join apps on apps.id = r.app_id
      where r.domain_id = ${domainId} and ${holds(sql`r.document`, id)}
    limit ${MAX_NAMED}`)
  return rows.map((row) => `${row.what} ${JSON.stringify(row.name)} (${row.id})`)
}

/** Condition that a document contains an id at any depth. */
const holds = (document: SQL, id: string): SQL =>
  sql`jsonb_path_exists(${document}, '$.** ? (@ == $id)', jsonb_build_object('id', ${id}::text))`
