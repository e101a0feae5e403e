/** Exports all data about a person. */
import { type SQL, sql } from 'drizzle-orm'
import type { PersonExport } from '../../contract/endpoints/personal-data.ts'
import type { Db } from '../../database/database.ts'
import { activityLogs } from '../../database/schema/audit.ts'
import { type Actor, recordActivity } from '../kernel/audit/activity.ts'
import { withPersonalValues } from '../kernel/audit/personal.ts'
import { chainWaiting } from '../kernel/audit/unchained-entries.ts'
import { longStatements } from '../sync/runs.ts'
import { personOf } from './person.ts'
import { type Table, tablesOf } from './places.ts'

/** Maximum number of rows of a table. */
const MAX_ROWS = 5000
/** Tables of the activity log, whose entries are exported in readable form. */
const OF_THE_LOG = ['activity_logs', 'activity_waiting', 'activity_personal']

/**
 * Returns every row that refers to the person, by table, without sealed and hashed columns.
 *
 * @throws CoreError `not_found` if nobody has the address
 */
export async function exportPerson(db: Db, actor: Actor, email: string): Promise<PersonExport> {
  const person = await personOf(db, actor.domainId, email)
  await chainWaiting(db, actor.domainId)
  return db.transaction(async (tx) => {
    await tx.execute(longStatements)
    const { tables, cut, put } = collected()
    for (const table of await tablesOf(tx))
      if (!OF_THE_LOG.includes(table.name)) put(table.name, await rowsOf(tx, table, person.id))
    put('activity_logs', await logEntries(tx, about(person.id)))
    await recordActivity(tx, actor, 'PERSON_EXPORTED', [target(person.id)], {
      tables: Object.keys(tables),
    })
    return { person: { id: person.id, email: person.email }, tables, cut }
  })
}

/** Collects rows by table, up to a limit for each. `cut` names the tables that have more. */
export function collected() {
  const tables: PersonExport['tables'] = {}
  const cut: string[] = []
  const put = (name: string, rows: Record<string, unknown>[]) => {
    if (rows.length > MAX_ROWS) cut.push(name)
    if (rows.length > 0) tables[name] = rows.slice(0, MAX_ROWS)
  }
  return { tables, cut, put }
}

/** Condition for log entries of actions by the person or on them. */
const about = (id: string): SQL =>
  sql`actor ->> 'id' = ${id} or targets @> jsonb_build_array(jsonb_build_object('id', ${id}::text))
    or event_metadata ->> 'target_user_id' = ${id} or event_metadata ->> 'user_id' = ${id}`

/** Returns the person as a target in the activity log: only the id, which stays when they are erased. */
export const target = (id: string) => ({ target_type: 'User', name: '', id })

export async function rowsOf(tx: Db, table: Table, id: string): Promise<Record<string, unknown>[]> {
  const { schema, name, ids, idLists, sealed } = table
  const named = [
    ...ids.map((column) => sql`t.${sql.identifier(column)} = ${id}::uuid`),
    ...idLists.map((column) => sql`${id}::uuid = any(t.${sql.identifier(column)})`),
  ]
  if (named.length === 0) return []
  const { rows } = await tx.execute<{ one: Record<string, unknown> }>(sql`
    select to_jsonb(t) - ${sql.param(sealed)}::text[] as one
    from ${sql.identifier(schema)}.${sql.identifier(name)} t
    where ${sql.join(named, sql` or `)} limit ${MAX_ROWS + 1}`)
  return rows.map(({ one }) => one)
}

/** Returns log entries in readable form. */
export async function logEntries(tx: Db, which: SQL): Promise<Record<string, unknown>[]> {
  const rows = await tx
    .select()
    .from(activityLogs)
    .where(which)
    .orderBy(activityLogs.id)
    .limit(MAX_ROWS + 1)
  return (await withPersonalValues(tx, rows)).map((row) => ({
    event_type: row.eventType,
    outcome: row.outcome,
    began_at: row.beganAt.toISOString(),
    actor: row.actor,
    targets: row.targets,
    event_metadata: row.metadata,
  }))
}
