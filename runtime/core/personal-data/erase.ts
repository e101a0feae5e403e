/** Erases a person from the records, in one transaction. */
import { type SQL, sql } from 'drizzle-orm'
import type { PersonErased } from '../../contract/endpoints/personal-data.ts'
import { conflict } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { type UserRow, users } from '../../database/schema/people.ts'
import { type Actor, recordActivity } from '../kernel/audit/activity.ts'
import { redactEntries } from '../kernel/audit/redacted.ts'
import { chainWaiting } from '../kernel/audit/unchained-entries.ts'
import { longStatements } from '../sync/runs.ts'
import { target } from './export.ts'
import { namesAnywhere, namesNearby, personOf, theirAccounts } from './person.ts'
import { standingAlone, type Table, tablesOf } from './places.ts'
import { ERASED, PERSONAL_KEPT } from './rules.ts'
import { obstaclesToErasure } from './standing.ts'

type ErasureOptions = { email: string; dryRun: boolean }
type Counts = PersonErased['erased']

/**
 * Tables that are append-only or contain no text written by people. The activity log is erased separately.
 */
const LEFT = [
  ...['activity_logs', 'activity_waiting', 'activity_personal', 'activity_redactions'],
  ...['generations', 'installed_states'],
  ...['packages', 'table_changes', 'deployment_secret', 'deployment_versions'],
]

/** Replacement for a person's name. */
const GONE = '\\1erased'

/**
 * Removes personal data from every row about the person, and their addresses and full name from all other
 * text. A dry run does the same and rolls back, so that its result is exact.
 *
 * @throws CoreError `not_found` if nobody has the address, `conflict` with the steps to be done first
 */
export async function erasePerson(
  db: Db,
  actor: Actor,
  { email, dryRun }: ErasureOptions,
): Promise<PersonErased> {
  const { domainId } = actor
  const { id } = await personOf(db, domainId, email)
  await chainWaiting(db, domainId)
  return db
    .transaction(async (tx) => {
      await tx.execute(longStatements)
      await tx.select({ id: users.id }).from(users).where(sql`${users.id} = ${id}`).for('update')
      const person = await personOf(tx, domainId, email)
      const holds = await obstaclesToErasure(tx, person)
      if (holds.length > 0) throw conflict(`This person cannot be erased yet: ${holds.join('; ')}`)
      const names = (await namesAnywhere(tx, person)).map(standingAlone)
      const erased = await eraseAll(tx, person, names)
      const told = {
        changed: !dryRun,
        person: { id, email: person.email },
        erased,
        kept: Object.entries(PERSONAL_KEPT).map(([what, why]) => ({ what, why })),
      }
      if (dryRun) throw new DryRun(told)
      const rows = Object.fromEntries(erased.map(({ what, count }) => [what, count]))
      await recordActivity(tx, actor, 'PERSON_ERASED', [target(id)], { rows })
      return told
    })
    .catch((error) => {
      if (error instanceof DryRun) return error.told
      throw error
    })
}

async function eraseAll(tx: Db, person: UserRow, anywhere: readonly string[]): Promise<Counts> {
  const nearby = (await namesNearby(tx, person)).map(standingAlone)
  const counts: Counts = []
  const add = (what: string, count: number) => void (count > 0 && counts.push({ what, count }))
  add('values of the activity log', await eraseValues(tx, person.id, anywhere))
  add('names in clear in the activity log', await eraseInClear(tx, person, anywhere, nearby))
  const tables = (await tablesOf(tx)).filter(({ name }) => !LEFT.includes(name))
  for (const table of tables) {
    const about = Object.hasOwn(ABOUT, table.name) ? ABOUT[table.name] : undefined
    if (about)
      add(
        `names in what is about the person: ${table.name}`,
        await replaceIn(tx, table, nearby, about(person.id)),
      )
  }
  for (const [what, erase] of Object.entries(ERASED))
    add(what, (await tx.execute(erase(person.id))).rowCount ?? 0)
  // Generations are append-only. This function is the only change that the host may make to them.
  const generations = await tx.execute(
    sql`select erase_from_generations(${person.id}::uuid, ${sql.param([...anywhere])}::text[])`,
  )
  add('names in generations of what is installed', generations.rowCount ?? 0)
  for (const table of tables) {
    const ofDomain = table.ofDomain ? sql`domain_id = ${person.domainId}` : sql`true`
    add(`mentions: ${table.name}`, await replaceIn(tx, table, anywhere, ofDomain))
  }
  return counts
}

/** ABOUT: table with text by other people -> condition for rows about a person. */
const ABOUT: Readonly<Record<string, (userId: string) => SQL>> = {
  tasks: (id) => sql`target_user_id = ${id} or access_request_id in (
    select r.id from access_requests r where r.target_user_id = ${id} or r.requester_id = ${id})`,
  task_comments: (id) => sql`task_id in (select t.id from tasks t where t.target_user_id = ${id}
    or t.access_request_id in (
      select r.id from access_requests r where r.target_user_id = ${id} or r.requester_id = ${id}))`,
  user_offboardings: (id) => sql`user_id = ${id}`,
}

/**
 * Removes names from log entries that contain them in clear: entries of earlier versions, and text in which a
 * person wrote a name.
 */
async function eraseInClear(
  tx: Db,
  { id, domainId }: UserRow,
  anywhere: readonly string[],
  nearby: readonly string[],
): Promise<number> {
  const all = sql`concat_ws(' ', actor, targets, event_metadata)`
  const says = (names: readonly string[]) => sql`${all} ~* any(${sql.param([...names])}::text[])`
  const isAbout = sql`exists (select 1 from (select ${id}::text as id
    union all select id::text from accounts where ${theirAccounts(id)}) one
    where position(one.id in ${all}) > 0)`
  const which = sql`(${says(anywhere)} or ${isAbout} and ${says(nearby)})`
  return redactEntries(tx, domainId, [...anywhere, ...nearby], which)
}

/** Deletes values that belong to the person, or whose text contains a name. */
async function eraseValues(tx: Db, userId: string, names: readonly string[]): Promise<number> {
  const { rowCount } = await tx.execute(sql`
    delete from activity_personal
    where user_id = ${userId} or value::text ~* any(${sql.param([...names])}::text[])`)
  return rowCount ?? 0
}

/** Replaces names in the text of some rows of a table. Returns the number of rows that had any. */
async function replaceIn(
  tx: Db,
  { schema, name, texts }: Table,
  names: readonly string[],
  which: SQL,
): Promise<number> {
  if (names.length === 0 || texts.length === 0) return 0
  const found = sql.join(
    texts.map(
      (one) => sql`${sql.identifier(one.name)}::text ~* any(${sql.param([...names])}::text[])`,
    ),
    sql` or `,
  )
  const set = texts.map((one) => {
    const column = sql.identifier(one.name)
    const without = names.reduce(
      (text: SQL, pattern) => sql`regexp_replace(${text}, ${pattern}, ${GONE}, 'gi')`,
      sql`${column}::text`,
    )
    return sql`${column} = (${without})::${sql.raw(one.type)}`
  })
  const { rowCount } = await tx.execute(sql`
    update ${sql.identifier(schema)}.${sql.identifier(name)} set ${sql.join(set, sql`, `)}
    where (${which}) and (${found})`)
  return rowCount ?? 0
}

/** Rolls back a dry run and carries its result. */
class DryRun extends Error {
  readonly told: PersonErased

  constructor(told: PersonErased) {
    super('a dry run')
    this.told = told
  }
}
