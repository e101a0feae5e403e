/** Verbs for syncs. */

import {
  SYNC_PHASES,
  type SyncRun,
  type SyncSettings,
  type SyncSettingsInput,
} from '../../contract/models/sync.ts'
import { inLines } from '../terminal/join-lines.ts'
import { terminalJson } from '../terminal/json.ts'
import type { ReadFlags } from '../terminal/options.ts'
import { ask, print } from './change.ts'
import { jsonOf } from './envelope.ts'
import { requireApp } from './known.ts'

type SyncsFlags = ReadFlags & { limit: number }

/** Prints the latest syncs, their progress, and what they found. */
export async function syncs(app: string | undefined, flags: SyncsFlags): Promise<void> {
  const query = new URLSearchParams({ limit: String(flags.limit) })
  if (app !== undefined) query.set('app_id', app)
  const answer = await ask<{ items: SyncRun[] }>(flags, `/operator/syncs?${query}`)
  if (app !== undefined && answer.items.length === 0) await requireApp(flags, app)
  print(flags, answer, ({ items }) =>
    items.length === 0 ? noRuns(app) : items.map(runWords).join('\n'),
  )
}

function runWords(run: SyncRun): string {
  const { counts } = run
  const at =
    run.state === 'RUNNING'
      ? ` at ${run.phase} (${SYNC_PHASES.indexOf(run.phase) + 1} of ${SYNC_PHASES.length})`
      : ''
  const listed = ['accounts', 'resources', 'entitlements', 'associations']
    .map((kind) => `${counts[kind] ?? 0} ${kind}`)
    .join(', ')
  const rest = Object.entries(counts)
    .filter(
      ([name, count]) =>
        /_(gone|made|changed|left|joined|kept|confirmed)$|^loose$|^left_out$/.test(name) &&
        count > 0,
    )
    .map(([name, count]) => `${name.replaceAll('_', ' ')} ${count}`)
  return inLines([
    `${run.run}  ${run.app_name} (${run.app_id})  ${run.state}${at}`,
    `    ${run.began_at} to ${run.ended_at ?? 'now'}: ${listed}`,
    rest.length > 0 && `    ${rest.join(', ')}`,
    run.skipped.length > 0 && `    the connector does not offer: ${run.skipped.join(', ')}`,
    run.problem !== null && `    ${run.problem}`,
    run.next_try_at !== null && `    next try at ${run.next_try_at} (${run.attempts} failed)`,
    run.state === 'STOPPED' && `    if they are really gone: keyway sync-accept ${run.run}`,
  ])
}

type RunFlags = ReadFlags & { dryRun?: true }

const changeRun = (run: number, verb: 'accept' | 'cancel', flags: RunFlags): Promise<SyncRun> =>
  ask<SyncRun>(flags, `/operator/syncs/${run}/${verb}`, {
    body: { dry_run: flags.dryRun ?? false },
  })

/** Continues a stopped sync, confirming that the missing items were really removed. */
export async function acceptSync(run: number, flags: RunFlags): Promise<void> {
  print(flags, await changeRun(run, 'accept', flags), (one) =>
    flags.dryRun
      ? `Would continue, and mark as removed: ${one.problem}`
      : `Run ${one.run} of ${one.app_name} continues.`,
  )
}

/** Cancels a running sync. */
export async function cancelSync(run: number, flags: RunFlags): Promise<void> {
  print(flags, await changeRun(run, 'cancel', flags), (one) =>
    flags.dryRun
      ? `Would cancel run ${one.run} of ${one.app_name}, which is at ${one.phase}.`
      : `Run ${one.run} of ${one.app_name} is cancelled; data found so far is kept.`,
  )
}

type SettingsFlags = ReadFlags & { set?: string; every?: number; dryRun?: true }

/** Shows or changes how an app is synced. */
export async function syncSettings(app: string, flags: SettingsFlags): Promise<void> {
  const path = `/operator/apps/${encodeURIComponent(app)}/sync`
  const settings: SyncSettingsInput = {
    // The cast: the host validates it.
    ...(flags.set === undefined ? {} : ((await jsonOf(flags.set, '--set')) as SyncSettingsInput)),
    ...(flags.every === undefined ? {} : { every_hours: flags.every }),
  }
  const answer = await ask<SyncSettings>(
    flags,
    path,
    Object.keys(settings).length === 0
      ? {}
      : { method: 'PUT', body: { settings, dry_run: flags.dryRun ?? false } },
  )
  print(flags, answer, (one) => terminalJson(one))
}

const noRuns = (app: string | undefined): string =>
  app === undefined
    ? 'Nothing has been synced yet.'
    : `The app ${app} has not been synced yet; keyway syncs shows the syncs of all apps.`
