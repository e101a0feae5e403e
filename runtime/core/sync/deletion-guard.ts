/**
 * Guard against mass deletion: stops a run if so much is missing that a fault of the upstream is more likely
 * than people leaving.
 */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { askAdmins, logUnsuccessfulRun } from './failures.ts'
import { checkpoint, countedBefore, endRun, toNext, type Walk } from './runs.ts'

/** A loss is suspicious above both this number and this percentage of the previous count. */
const MAX_MISSING = 10
const MAX_MISSING_PERCENT = 30
/** The loss of everything is suspicious from this count on. */
const ALL_OF = 3

const isSuspicious = (before: number, missing: number): boolean =>
  (missing > MAX_MISSING && missing * 100 > before * MAX_MISSING_PERCENT) ||
  (missing >= ALL_OF && missing >= before)

/** Kinds of rows to check. Each is also the name of the phase that lists it. */
const KINDS = ['accounts', 'entitlements', 'associations'] as const
type Kind = (typeof KINDS)[number]

/**
 * Counts the existing rows before anything is written. The last identity event is taken from the previous run
 * unless that succeeded: it may have written events that listeners were not told about.
 */
export const beginCount = (walk: Walk): Promise<void> =>
  checkpoint(walk, async (tx) => {
    const { rows } = await tx.execute<Record<string, string>>(sql`
      select
        (select count(*) from accounts where app_id = ${walk.app.id} and gone_at is null
          and seen_run is not null) as accounts,
        (select count(*) from entitlements where app_id = ${walk.app.id} and gone_at is null) as entitlements,
        (select count(*) from associations where app_id = ${walk.app.id}) as associations,
        (select count(*) from resources where app_id = ${walk.app.id}) as resources,
        (select count(*) from expenses where app_id = ${walk.app.id}) as expenses,
        coalesce(
          (select (counts ->> 'before_last_event')::bigint from sync_runs
            where id = (select max(id) from sync_runs
              where app_id = ${walk.app.id} and id < ${walk.run.id}) and state <> 'SUCCEEDED'),
          (select max(id) from identity_events where domain_id = ${walk.app.domainId}),
          0) as last_event`)
    const counted = Object.fromEntries(
      Object.entries(rows[0] ?? {}).map(([name, count]) => [`before_${name}`, Number(count)]),
    )
    return { ...toNext(walk), counted }
  })

/** Continues the run, or stops it before anything is marked as removed. */
export async function guardDeletions(walk: Walk): Promise<void> {
  const { run, app } = walk
  const judged = KINDS.filter((kind) => !run.skipped.includes(kind) && countedBefore(run, kind) > 0)
  const missing = await countMissing(walk.db, walk, judged)
  const suspicious = judged.flatMap((kind, n) => {
    const [before, gone] = [countedBefore(run, kind), missing[n] ?? 0]
    return isSuspicious(before, gone) ? [`${gone} of ${before} ${kind}`] : []
  })
  if (suspicious.length === 0 || run.accepted) return checkpoint(walk, async () => toNext(walk))
  const problem = `${suspicious.join(' and ')} are missing from the lists of ${app.name}; nothing was marked as removed`
  await walk.db.transaction(async (tx) => {
    await endRun(tx, walk, { state: 'STOPPED', problem })
    await askAdmins(tx, app, `The sync of ${app.name} stopped: ${problem}.`, helpOf(run.id))
  })
  logUnsuccessfulRun(
    walk,
    {},
    'a sync stopped because suspiciously much is missing; its run has the details',
  )
}

const helpOf = (run: number): string =>
  `If they were really removed, have an operator confirm it with keyway sync-accept ${run}. Otherwise fix the system and start another sync.`

/** Condition for an existing row. Removed associations are deleted. */
const IS_THERE: Record<Kind, SQL> = {
  accounts: sql`gone_at is null`,
  entitlements: sql`gone_at is null`,
  associations: sql`true`,
}

/** Counts the rows of each kind that the run has not seen. */
async function countMissing(db: Db, { app, run }: Walk, kinds: readonly Kind[]): Promise<number[]> {
  if (kinds.length === 0) return []
  const counts = kinds.map(
    (kind) => sql`select count(*) as n from ${sql.identifier(kind)}
      where app_id = ${app.id} and ${IS_THERE[kind]} and seen_run < ${run.id}`,
  )
  const { rows } = await db.execute<{ n: string }>(sql.join(counts, sql` union all `))
  return rows.map(({ n }) => Number(n))
}
