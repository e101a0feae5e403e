/** Whether so much vanished that it looks like a fault of the upstream, rather than like people leaving. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { checkpoint, endRun, toNext, type Walk } from './runs.ts'
import { askAdmins, tellEnded } from './trouble.ts'

/** More than so many, and more than so much of what there was, is suspicious. */
const MOST_MISSING = 10
const MOST_MISSING_PERCENT = 30
/** All of so many or more is, too. */
const ALL_OF = 3

const isSuspicious = (before: number, missing: number): boolean =>
  (missing > MOST_MISSING && missing * 100 > before * MOST_MISSING_PERCENT) ||
  (missing >= ALL_OF && missing >= before)

/** What is judged, and the phase that has to have listed it. */
const KINDS = ['accounts', 'entitlements', 'associations'] as const

/**
 * Counts what there is before anything is written. The last identity event is the one before the first that
 * nobody was asked about: a run that failed may have written some.
 */
export const beginCount = (walk: Walk): Promise<void> =>
  checkpoint(walk, async (tx) => {
    const { rows } = await tx.execute<Record<string, string>>(sql`
      select
        (select count(*) from accounts where app_id = ${walk.app.id} and gone_at is null
          and seen_run is not null) as accounts,
        (select count(*) from entitlements where app_id = ${walk.app.id} and gone_at is null) as entitlements,
        (select count(*) from associations where app_id = ${walk.app.id}) as associations,
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

/** Goes on, or stops the run before anything is marked as gone. */
export async function guardDeletions(walk: Walk): Promise<void> {
  const { run, app } = walk
  const missing = await countMissing(walk.db, walk)
  const suspicious = KINDS.flatMap((kind) => {
    const before = run.counts[`before_${kind}`] ?? 0
    const gone = run.skipped.includes(kind) ? 0 : missing[kind]
    return isSuspicious(before, gone) ? [`${gone} of ${before} ${kind}`] : []
  })
  if (suspicious.length === 0 || run.accepted) return checkpoint(walk, async () => toNext(walk))
  const problem = `${suspicious.join(' and ')} are missing from what ${app.name} lists; nothing was marked as gone`
  await walk.db.transaction(async (tx) => {
    await endRun(tx, walk, { state: 'STOPPED', problem })
    await askAdmins(tx, app, `The sync of ${app.name} stopped: ${problem}.`, helpOf(run.id))
  })
  tellEnded(walk, {}, 'a sync stopped because suspiciously much vanished; its run says what')
}

const helpOf = (run: number): string =>
  `If they are gone indeed, let an operator say so with keyway sync-accept ${run}; else put the system right and start another sync.`

async function countMissing(
  db: Db,
  { app, run }: Walk,
): Promise<Record<(typeof KINDS)[number], number>> {
  const { rows } = await db.execute<Record<(typeof KINDS)[number], string>>(sql`
    select
      (select count(*) from accounts where app_id = ${app.id} and gone_at is null
        and seen_run < ${run.id}) as accounts,
      (select count(*) from entitlements where app_id = ${app.id} and gone_at is null
        and seen_run < ${run.id}) as entitlements,
      (select count(*) from associations where app_id = ${app.id}
        and seen_run < ${run.id}) as associations`)
  const [found] = rows
  return {
    accounts: Number(found?.accounts ?? 0),
    entitlements: Number(found?.entitlements ?? 0),
    associations: Number(found?.associations ?? 0),
  }
}
