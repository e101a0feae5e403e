/**
 * A large company, made inside the database: people with names and e-mail addresses, their groups, tasks
 * and the log. Every run makes the same rows, so that figures can be compared.
 */

import { sql } from 'drizzle-orm'
import { Client } from 'pg'
import type { Db } from '../../runtime/database/database.ts'
import { prepareHome } from '../../runtime/database/server-home.ts'
import { keptSecret } from '../../runtime/secrets/secret-files.ts'

export type Sizes = { users: number; groups: number; tasks: number; logs: number }

const GIVEN =
  'Ada Alan Amina Anna Ben Carla Chen Chloe Daniel Dennis Diego Edsger Elena Emma Fatima Femi Frances Grace Hanna Hedy Ines Ivan Jamal Jean John Jose Julia Kai Karen Katherine Ken Lars Laura Leila Linus Lucia Margaret Maria Mary Mei Mohamed Nadia Noor Olga Omar Paul Priya Radia Rosa Ruth Sara Sofia Sven Tim Tomas Uma Vera Wei Yuki Zoe'
const FAMILY =
  'Adams Allen Andersson Bakker Becker Berg Brown Chen Clark Cohen Costa Davis Diaz Dijkstra Dubois Eriksen Evans Fischer Garcia Goldberg Gonzalez Gupta Haddad Hamilton Hansen Hopper Hughes Ibrahim Ivanov Jackson Jansen Johnson Jones Kelly Khan Kim Klein Kowalski Kumar Larsen Lee Lewis Li Liskov Lopez Lovelace Martin Mendes Meyer Miller Moore Moreau Mueller Murphy Nakamura Nguyen Nielsen Novak Okafor Olsen Park Patel Perez Perlman Petrov Ramos Ritchie Rossi Santos Sato Schmidt Schneider Silva Singh Smith Suzuki Takahashi Tanaka Taylor Thompson Torvalds Turing Van Vogel Walker Wang Weber Williams Wilson Wong Wright Yamamoto Yilmaz Young Zhang Zhou'

/** Rows per statement, few enough that even a busy machine stays within the statement timeout. */
const CHUNK = 5000

const words = (text: string) => sql`string_to_array(${text}, ' ')`

/** Fills an empty database. Reports its progress. */
export async function fill(db: Db, sizes: Sizes, tell: (text: string) => void): Promise<void> {
  const { rows } = await db.execute<{ id: string }>(sql`select id from domains limit 1`)
  const domain = rows[0]?.id ?? ''
  await chunked(sizes.users, async (from, to) => {
    await db.execute(sql`
      insert into users (id, domain_id, email, given_name, family_name, status, custom_attributes, created_at)
      select md5('user' || n)::uuid, ${domain}, lower(given || '.' || family) || '.' || n ||
          (array['@example.com', '@example.com', '@eu.example.com', '@partner.example'])[1 + n % 4],
        given, family, (array['ACTIVE', 'ACTIVE', 'ACTIVE', 'ACTIVE', 'SUSPENDED'])[1 + n % 5],
        jsonb_build_object('department', jsonb_build_object('type', 'TEXT', 'value', 'Department ' || n % 40),
          'title', jsonb_build_object('type', 'TEXT', 'value', 'Engineer ' || n % 7)),
        timestamptz '2024-01-01' + n * interval '20 seconds'
      from (select n,
        (${words(GIVEN)})[1 + (('x' || substr(md5('g' || n), 1, 7))::bit(28)::int % ${GIVEN.split(' ').length}::int)] as given,
        (${words(FAMILY)})[1 + floor(${FAMILY.split(' ').length}::int * power(('x' || substr(md5('f' || n), 1, 7))::bit(28)::int / 268435456.0, 2))::int] as family
      from generate_series(${from}::int, ${to}::int) n) people`)
    await db.execute(sql`
      insert into user_roles (domain_id, user_id, role)
      select ${domain}, md5('user' || n)::uuid, (array['App Admin', 'Auditor', 'Vendor Owner'])[1 + n / 100 % 3]
      from generate_series(${from}::int, ${to}::int) n where n % 100 = 0`)
    tell(`${to} users`)
  })
  await db.execute(sql`
    insert into groups (id, domain_id, name, description, integration_specific_id)
    select md5('group' || n)::uuid, ${domain},
      (array['Engineering', 'Sales', 'Support', 'Finance', 'Everybody'])[1 + n % 5] || ' ' || n, 'Group ' || n, 'g-' || n
    from generate_series(1, ${sizes.groups}::int) n`)
  // Group 1 has all people, group 2 a twentieth, the others about a hundred each.
  await chunked(sizes.users, async (from, to) => {
    await db.execute(sql`
      insert into group_members (domain_id, group_id, user_id)
      select ${domain}, md5('group' || g)::uuid, md5('user' || n)::uuid
      from generate_series(${from}::int, ${to}::int) n,
        lateral (select 1 as g union all select 2 where n % 20 = 0
          union all select 3 + n % (${sizes.groups}::int - 2) where n % 5 = 0) member`)
    tell(`members up to user ${to}`)
  })
  await chunked(sizes.tasks, async (from, to) => {
    await db.execute(sql`
      insert into tasks (id, domain_id, task_type, task_category, status, description, product_area,
        app_id, target_user_id, access_request_id, created_at)
      select md5('task' || n)::uuid, ${domain}, (array['ACCESS_REQUEST', 'OFFBOARDING', 'ACCESS_REVIEW', 'ERROR'])[1 + n % 4],
        (array['APPROVAL', 'MANAGER_APPROVAL', 'PROVISIONING', 'DEPROVISIONING', 'GENERIC', 'ERROR'])[1 + n % 6],
        (array['PENDING', 'COMPLETED', 'COMPLETED', 'DISMISSED', 'STAGED'])[1 + n % 5],
        'Give access to application ' || n % 500 || ' for request ' || n,
        (array['APPSTORE', 'ACCESS_REVIEWS', 'ONBOARDING', null])[1 + n % 4],
        md5('app' || n % 500)::uuid, md5('user' || 1 + (n * 7) % ${sizes.users}::int)::uuid, md5('request' || n / 3)::uuid,
        timestamptz '2025-01-01' + n * interval '5 minutes'
      from generate_series(${from}::int, ${to}::int) n`)
    // A tenth belongs to the caller, directly or through group 1; user 1 has a half of the rest.
    await db.execute(sql`
      insert into task_assignees (domain_id, task_id, user_id, group_id)
      select ${domain}, md5('task' || n)::uuid,
        case when n % 10 = 0 then (select id from users where email = 'admin@localhost')
          when n % 10 < 5 then md5('user1')::uuid
          when n % 10 < 8 then md5('user' || 1 + n % ${sizes.users}::int)::uuid end,
        case when n % 10 >= 8 then md5('group' || 1 + n % ${sizes.groups}::int)::uuid end
      from generate_series(${from}::int, ${to}::int) n`)
    tell(`${to} tasks`)
  })
  await chunked(sizes.logs, async (from, to) => {
    await db.execute(sql`
      insert into activity_logs (domain_id, event_hash, event_type, outcome, actor, targets, event_metadata, event_began_at)
      select ${domain}, md5('log' || n) || md5('a' || n) || md5('b' || n) || md5('c' || n),
        (array['USER_ROLE_ADDED', 'TASK_ACTION_PERFORMED', 'TASK_REASSIGNED'])[1 + n % 3], 'Succeeded',
        jsonb_build_object('actor_type', 'Lumos user', 'email', 'admin@localhost', 'given_name', 'Admin', 'family_name', ''),
        jsonb_build_array(jsonb_build_object('target_type', 'User', 'name', 'User ' || n, 'id', md5('user' || n))),
        '{}', timestamptz '2025-01-01' + n * interval '30 seconds'
      from generate_series(${from}::int, ${to}::int) n`)
    tell(`${to} log entries`)
  })
}

const TABLES = [
  'users user_roles groups group_members apps access_requests tasks task_assignees activity_logs table_changes',
  'account_spans associations sync_runs access_review_apps access_review_assignments access_review_items',
].join(' ')

/** Does what autovacuum would do in the minutes after an import. */
export async function settle(dataDir: string): Promise<void> {
  const { socket } = await prepareHome(dataDir)
  const password = (await keptSecret(dataDir, 'database-password')).value
  // The role that the host uses owns no table: for it, vacuum would only warn and skip them.
  const owner = new Client({ host: socket, user: 'keyway', database: 'keyway', password })
  await owner.connect()
  for (const table of TABLES.split(' ')) await owner.query(`vacuum analyze ${table}`)
  await owner.end()
}

export async function chunked(
  rows: number,
  one: (from: number, to: number) => Promise<void>,
): Promise<void> {
  for (let from = 1; from <= rows; from += CHUNK) await one(from, Math.min(rows, from + CHUNK - 1))
}
