/** Which function answers which operator's endpoint of syncs. */
import type { SYNC_ENDPOINTS } from '../../contract/endpoints/syncs.ts'
import { acceptDrop, cancelRun, listRuns } from '../../core/sync/progress.ts'
import { changeSettings, readSyncSettings } from '../../core/sync/settings.ts'
import type { OperatorHandler } from './handler.ts'

type Handlers = { [N in keyof typeof SYNC_ENDPOINTS]: OperatorHandler<N> }

export const SYNC_HANDLERS: Handlers = {
  list_syncs: async ({ db, actor }, { query }) => ({
    items: await listRuns(db, actor.domainId, { appId: query.app_id, limit: query.limit }),
  }),
  accept_sync: ({ db, actor, parts }, { params, body }) =>
    acceptDrop(db, actor, runOf(params), { dryRun: body.dry_run, send: parts.send }),
  cancel_sync: ({ db, actor }, { params, body }) =>
    cancelRun(db, actor, runOf(params), body.dry_run),
  show_sync_settings: ({ db, actor }, { params }) =>
    readSyncSettings(db, actor.domainId, params['app_id'] ?? ''),
  change_sync_settings: ({ db, actor }, { params, body }) =>
    changeSettings(db, actor, params['app_id'] ?? '', body.settings, body.dry_run),
}

/** The number of a run; NaN, which none has, for what is none. */
const runOf = ({ run = '' }: Record<string, string>): number =>
  /^[0-9]{1,15}$/.test(run) ? Number(run) : Number.NaN
