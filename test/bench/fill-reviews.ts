/**
 * The result of a complete sync of a large app, made inside the database: accounts and their entitlements.
 */
import { sql } from 'drizzle-orm'
import type { Db } from '../../runtime/database/database.ts'
import { chunked } from './fill.ts'

/** Number of entitlements of one account. */
export const HELD = 10
/** Entitlements of the app. */
const ENTITLEMENTS = 500

/** Needs the people of `fill`, and assigns managers to them. `items` is the number of lines of a review. */
export async function fillReviews(
  db: Db,
  { appId, users, items }: { appId: string; users: number; items: number },
  tell: (text: string) => void,
): Promise<void> {
  const { rows } = await db.execute<{ id: string }>(sql`select id from domains limit 1`)
  const domain = rows[0]?.id ?? ''
  // Each has twenty direct reports.
  await chunked(users, async (from, to) => {
    await db.execute(sql`
      update users u set manager_id = md5('user' || greatest(1, n / 20))::uuid
      from generate_series(${from}::int, ${to}::int) n where u.id = md5('user' || n)::uuid and n > 1`)
    tell(`managers of ${to}`)
  })
  await db.execute(sql`
    insert into entitlements (domain_id, app_id, entitlement_type, external_id, resource_id, label, is_assignable, seen_run)
    select ${domain}, ${appId}, 'GROUP', 'g' || n, '', 'Group ' || n, true, 0
    from generate_series(0, ${ENTITLEMENTS - 1}::int) n`)
  const { rows: runs } = await db.execute<{ id: string }>(sql`
    insert into sync_runs (domain_id, app_id, state, phase, page_size, ended_at, recorded_at)
    values (${domain}, ${appId}, 'SUCCEEDED', 'end', 1000, now(), now()) returning id`)
  const run = runs[0]?.id
  await chunked(items / HELD, async (from, to) => {
    await db.execute(sql`
      insert into account_spans (domain_id, app_id, account_id, unique_identifier, account_type, status, email,
        user_id, since)
      select ${domain}, ${appId}, md5('account' || n)::uuid, 'account-' || n, 'USER',
        (array['ACTIVE', 'ACTIVE', 'ACTIVE', 'SUSPENDED'])[1 + n % 4], 'account-' || n || '@example.com',
        case when n % 50 > 0 then md5('user' || 1 + n % ${users}::int)::uuid end, now()
      from generate_series(${from}::int, ${to}::int) n`)
    await db.execute(sql`
      insert into associations (app_id, account_id, entitlement_id, seen_run, first_run)
      select ${appId}, md5('account' || n)::uuid, e.id, ${run}, ${run}
      from generate_series(${from}::int, ${to}::int) n
      join lateral generate_series(0, ${HELD - 1}::int) k on true
      join entitlements e on e.app_id = ${appId} and e.external_id = 'g' || (n * 7 + k * 31) % ${ENTITLEMENTS}::int`)
    tell(`what ${to} accounts hold`)
  })
}
