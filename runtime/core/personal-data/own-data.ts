/**
 * A person's export of their own data: rows that belong to them, and their own actions. Rows that also name
 * other people, such as comments about the person, are exported by the operator (`export.ts`), who reviews
 * them first.
 */
import { sql } from 'drizzle-orm'
import type { PersonExport } from '../../contract/endpoints/personal-data.ts'
import { CoreError, notFound } from '../../contract/errors/problem.ts'
import { CALLER_LIMITS } from '../../contract/limits/caller-limits.ts'
import type { Db } from '../../database/database.ts'
import { lockTextUntilEnd } from '../../database/locks.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import { chainWaiting } from '../kernel/audit/unchained-entries.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { longStatements } from '../sync/runs.ts'
import { collected, logEntries, rowsOf, target } from './export.ts'
import { tablesOf } from './places.ts'

/** OWN: table -> columns that identify the owner of a row. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  users: ['id'],
  personal_settings: ['user_id'],
  user_roles: ['user_id'],
  group_members: ['user_id'],
  accounts: ['user_id'],
  access_requests: ['requester_id', 'target_user_id'],
  task_comments: ['created_by_id'],
  delegations: ['user_id'],
  identity_events: ['user_id'],
  api_tokens: ['user_id'],
  sessions: ['user_id'],
  mails: ['user_id'],
}

const { most, perMs } = CALLER_LIMITS.own_exports

/**
 * Exports the caller's own data.
 *
 * @throws CoreError `too_many_requests` after too many exports within an hour
 */
export async function exportOwn(db: Db, principal: Principal): Promise<PersonExport> {
  const { userId: id, domainId } = principal
  await chainWaiting(db, domainId)
  return db.transaction(async (tx) => {
    await tx.execute(longStatements)
    // Or several at once would all count the same earlier ones.
    await tx.execute(lockTextUntilEnd(`own export of ${id}`))
    await requirePause(tx, principal)
    const { tables, cut, put } = collected()
    for (const table of await tablesOf(tx)) {
      const ids = table.schema === 'public' ? OWN[table.name] : undefined
      if (ids) put(table.name, await rowsOf(tx, { ...table, ids: [...ids], idLists: [] }, id))
    }
    put(
      'activity_logs',
      await logEntries(tx, sql`domain_id = ${domainId} and actor ->> 'id' = ${id}`),
    )
    const email = tables['users']?.[0]?.['email']
    if (typeof email !== 'string') throw notFound('User')
    await recordActivity(tx, principal, 'PERSON_EXPORTED', [target(id)], {
      tables: Object.keys(tables),
    })
    return { person: { id, email }, tables, cut }
  })
}

/** Counts the person's latest exports in the log, also those that are not chained yet. */
async function requirePause(tx: Db, { domainId, userId }: Principal): Promise<void> {
  const since = sql`clock_timestamp() - ${perMs} * interval '1 millisecond'`
  const { rows } = await tx.execute<{ n: number }>(sql`
    select (select count(*) from activity_logs where domain_id = ${domainId}
        and event_began_at > ${since}
        and event_type = 'PERSON_EXPORTED' and actor ->> 'id' = ${userId})::int
      + (select count(*) from activity_waiting where domain_id = ${domainId} and began_at > ${since}
        and ('[' || body || ']')::jsonb
          @> jsonb_build_array('PERSON_EXPORTED', jsonb_build_object('id', ${userId}::text)))::int as n`)
  if ((rows[0]?.n ?? 0) < most) return
  throw new CoreError(
    'too_many_requests',
    `Your data was given out ${most} times within an hour; wait an hour`,
    { retryAfterSeconds: perMs / 1000 },
  )
}
