/**
 * Years of access requests, made inside the database: ended, granted or pending, each with its approval task.
 */
import { sql } from 'drizzle-orm'
import type { Db } from '../../runtime/database/database.ts'
import { chunked } from './fill.ts'

/** The number of apps that they are for. */
const APPS = 500

/** The id of a row that this file made. */
export const madeId = (kind: 'app' | 'request' | 'user', n: number) =>
  sql`md5(${`${kind}${n}`})::uuid`

/** Needs the people of `fill`. Reports its progress. */
export async function fillRequests(
  db: Db,
  sizes: { users: number; requests: number },
  tell: (text: string) => void,
): Promise<void> {
  const { rows } = await db.execute<{ id: string }>(sql`select id from domains limit 1`)
  const domain = rows[0]?.id ?? ''
  await db.execute(sql`
    insert into apps (id, domain_id, app_class_id, instance_id, name)
    select md5('app' || n)::uuid, ${domain}, 'application-' || n, 'custom_app_import', 'Application ' || n
    from generate_series(0, ${APPS - 1}::int) n`)
  await chunked(sizes.requests, async (from, to) => {
    // Of twenty: twelve have ended, five are granted for up to a year, one each denied, cancelled, pending.
    await db.execute(sql`
      insert into access_requests (id, domain_id, app_id, carried_app_id, requester_id, target_user_id, status,
        plan, expiration_in_seconds, expires_at, how, was_there, wake_at, created_at)
      select md5('request' || n)::uuid, ${domain}, app, app, who, who, status,
        '{"manager": false, "stages": [], "message": null, "validationWebhook": null}', 86400, ends,
        case when n % 20 < 17 then 'webhook' end, case when n % 20 < 17 then false end,
        case status when 'COMPLETED' then ends when 'PENDING_APPROVAL' then now() + interval '30 days' end,
        now() - n * interval '30 seconds'
      from (select n, md5('app' || n % ${APPS})::uuid as app,
        md5('user' || 1 + (n * 7) % ${sizes.users}::int)::uuid as who,
        (array['DENIED', 'CANCELLED', 'PENDING_APPROVAL', 'COMPLETED', 'TIME_BASED_EXPIRED'])
          [case n % 20 when 17 then 1 when 18 then 2 when 19 then 3 else case when n % 20 > 11 then 4 else 5 end end] as status,
        case when n % 20 < 17 then now() + (1 + n % 365) * interval '1 day' end as ends
        from generate_series(${from}::int, ${to}::int) n) made`)
    await db.execute(sql`
      insert into tasks (id, domain_id, task_type, task_category, status, description, product_area, app_id,
        target_user_id, access_request_id, created_at)
      select md5('task' || n)::uuid, ${domain}, 'ACCESS_REQUEST', 'APPROVAL',
        case n % 20 when 19 then 'PENDING' when 17 then 'DISMISSED' when 18 then 'EXPIRED' else 'COMPLETED' end,
        'Give access to application ' || n % ${APPS} || ' for request ' || n, 'APPSTORE', md5('app' || n % ${APPS})::uuid,
        md5('user' || 1 + (n * 7) % ${sizes.users}::int)::uuid, md5('request' || n)::uuid, now() - n * interval '30 seconds'
      from generate_series(${from}::int, ${to}::int) n`)
    await db.execute(sql`
      insert into task_assignees (domain_id, task_id, user_id)
      select ${domain}, md5('task' || n)::uuid, md5('user' || 1 + n % ${sizes.users}::int)::uuid
      from generate_series(${from}::int, ${to}::int) n`)
    tell(`${to} requests`)
  })
}
