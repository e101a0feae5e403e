/**
 * Opens and ends spans (schema/history.ts) by comparing the current rows with the open spans, set by set, in
 * the transaction that ends a complete run, an upload or an import. Only differences are written.
 */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { KEEP_INDEX_LOOKUP } from '../../database/planner-hints.ts'
import { MOMENT } from './as-of.ts'
import { settleAssociationSpans } from './association-spans.ts'

/**
 * A complete run of an app. `skipped` lists the listings that it left out, about which it has no information.
 */
type CompleteRun = {
  id: number
  appId: string
  domainId: string
  skipped: readonly string[]
}

/** Columns of an account whose change ends its span. */
const TRACKED = ['user_id', 'unique_identifier', 'account_type', 'status', 'email']
const columnsOf = (table: string): SQL =>
  sql.raw(TRACKED.map((name) => `${table}.${name}`).join(', '))

const COLUMNS = sql.raw(TRACKED.join(', '))

/** Records the results of a complete run. All of its spans begin and end at one moment: the start of `tx`. */
export async function recordSpansOfRun(tx: Db, run: CompleteRun): Promise<void> {
  const before = await lastCompleteRun(tx, run)
  const ended = sql`until = ${MOMENT}, gone_run = ${run.id}, last_run = coalesce(${before}::bigint, s.first_run)`
  await bySets(tx, async () => {
    if (!run.skipped.includes('accounts')) {
      await endAccounts(
        tx,
        run.appId,
        ended,
        sql`(a.gone_at is not null or a.seen_run = ${run.id})`,
      )
      await openAccounts(tx, run.appId, run.id, sql`a.seen_run = ${run.id}`)
    }
  })
  await recordMembers(tx, run, ended)
  if (!run.skipped.includes('associations'))
    await bySets(tx, () => settleAssociationSpans(tx, run, ended))
}

/**
 * Runs `work` without nested-loop joins. Tables that grow within a transaction have no statistics: the
 * planner would look up each row, or even scan one table for each row of the other.
 */
async function bySets(tx: Db, work: () => Promise<void>): Promise<void> {
  await tx.execute(sql`set local enable_nestloop = off`)
  await work()
  await tx.execute(sql`set local enable_nestloop to default`)
}

async function lastCompleteRun(tx: Db, run: CompleteRun): Promise<number | null> {
  const { rows } = await tx.execute<{ last: string | null }>(sql`
    select max(id) as last from sync_runs
    where app_id = ${run.appId} and id < ${run.id} and state = 'SUCCEEDED'`)
  const last = rows[0]?.last ?? null
  return last === null ? null : Number(last)
}

/**
 * Records the accounts of an app without a system, after an upload or any other change that is not a sync.
 */
export async function recordAccounts(tx: Db, appId: string): Promise<void> {
  await bySets(tx, async () => {
    await endAccounts(tx, appId, sql`until = ${MOMENT}`, sql`true`)
    await openAccounts(tx, appId, null, sql`true`)
  })
}

/**
 * Records accounts that were read individually between syncs: the span of a changed account ends, and another
 * begins. Accounts that no sync has seen yet are left to the next one.
 */
export async function recordReadings(tx: Db, accountIds: readonly string[]): Promise<void> {
  const write = sql`
    with ended as (
      update account_spans s set until = greatest(${MOMENT}, s.since)
      from accounts a
      where s.account_id = any(${sql.param([...accountIds])}::uuid[]) and s.until is null and a.id = s.account_id
        and (${columnsOf('s')}) is distinct from (${columnsOf('a')})
      returning s.account_id, s.until)
    insert into account_spans (domain_id, app_id, account_id, since, ${COLUMNS})
    select a.domain_id, a.app_id, a.id, ended.until, ${columnsOf('a')}
    from ended join accounts a on a.id = ended.account_id`
  await tx.execute(write)
  // Repeat it: a run that ended in between may have replaced the span that the first statement waited for.
  await tx.execute(write)
}

/** Returns the condition that spans `s` are of an app, with the leading columns of their indexes. */
const ofApp = (appId: string): SQL =>
  sql`s.app_id = ${appId} and s.domain_id = (select domain_id from apps where id = ${appId})`

/**
 * Ends the spans of accounts that were removed or changed. `which` selects the accounts `a` that were read.
 */
async function endAccounts(tx: Db, appId: string, ended: SQL, which: SQL): Promise<void> {
  if (await isFirst(tx, appId)) return
  await tx.execute(sql`
    update account_spans s set ${ended} from accounts a
    where ${ofApp(appId)} and s.until is null and a.app_id = ${appId} and a.id = s.account_id and ${which}
      and (a.gone_at is not null or (${columnsOf('s')}) is distinct from (${columnsOf('a')}))`)
}

async function openAccounts(tx: Db, appId: string, run: number | null, which: SQL): Promise<void> {
  const open = (await isFirst(tx, appId))
    ? NONE_OPEN
    : sql`left join account_spans s on ${ofApp(appId)} and s.until is null and s.account_id = a.id`
  await tx.execute(sql`
    insert into account_spans (domain_id, app_id, account_id, since, first_run, ${COLUMNS})
    select a.domain_id, a.app_id, a.id, ${MOMENT}, ${run}::bigint, ${columnsOf('a')}
    from accounts a ${open}
    where a.app_id = ${appId} and a.gone_at is null and ${which} and s.id is null`)
}

/** Replaces the lookup of open spans where there are none: in the first run of an app. */
const NONE_OPEN = sql`cross join (select null::bigint as id) s`

/** Reports whether an app has no spans of accounts yet. */
async function isFirst(tx: Db, appId: string): Promise<boolean> {
  const { rows } = await tx.execute<{ found: boolean }>(sql`
    select exists (select from account_spans s where ${ofApp(appId)}) as found`)
  return rows[0]?.found === false
}

const recordMembers = (tx: Db, run: CompleteRun, ended: SQL): Promise<void> =>
  writeMembers(tx, sql`g.app_id = ${run.appId}`, ended, run.id)

/** Records the members of the groups that an import has changed. */
export const recordImportedMembers = (tx: Db, domainId: string): Promise<void> =>
  writeMembers(
    tx,
    sql`g.domain_id = ${domainId} and g.app_id is null`,
    sql`until = ${MOMENT}`,
    null,
  )

/** Records the members of groups. `which` selects the groups `g` that were read. */
async function writeMembers(tx: Db, which: SQL, ended: SQL, run: number | null): Promise<void> {
  await tx.execute(sql`
    update member_spans s set ${ended} where s.id = any(array(
      select o.id from member_spans o
      cross join lateral (select * from groups where groups.id = o.group_id ${KEEP_INDEX_LOOKUP}) g
      left join lateral (select true as there from group_members
        where group_id = o.group_id and user_id = o.user_id ${KEEP_INDEX_LOOKUP}) m on true
      where o.until is null and ${which} and m.there is null))`)
  await tx.execute(sql`
    insert into member_spans (domain_id, group_id, user_id, since, first_run)
    select m.domain_id, m.group_id, m.user_id, ${MOMENT}, ${run}::bigint
    from group_members m
    cross join lateral (select * from groups where groups.id = m.group_id ${KEEP_INDEX_LOOKUP}) g
    left join lateral (select id from member_spans where group_id = m.group_id
      and user_id = m.user_id and until is null ${KEEP_INDEX_LOOKUP}) s on true
    where ${which} and s.id is null`)
}

type Moves = {
  domainId: string
  groupId: string
  left: readonly string[]
  joined: readonly string[]
}

/** Records who left and who joined one group. The other members of a large group are not read. */
export async function recordMoves(
  tx: Db,
  { domainId, groupId, left, joined }: Moves,
): Promise<void> {
  if (left.length > 0)
    await tx.execute(sql`
      update member_spans s set until = ${MOMENT} where s.until is null and s.group_id = ${groupId}
        and s.user_id = any(${sql.param([...left])}::uuid[])`)
  if (joined.length > 0)
    await tx.execute(sql`
      insert into member_spans (domain_id, group_id, user_id, since)
      select ${domainId}::uuid, ${groupId}::uuid, user_id, ${MOMENT}
      from unnest(${sql.param([...joined])}::uuid[]) as came(user_id)
      on conflict (group_id, user_id) where until is null do nothing`)
}

/** Records that one person left groups. */
export const recordLeaver = async (tx: Db, userId: string): Promise<void> => {
  await tx.execute(sql`
    update member_spans s set until = ${MOMENT} where s.user_id = ${userId} and s.until is null
      and not exists (select from group_members m where m.group_id = s.group_id and m.user_id = s.user_id)`)
}
