/** State and settings of syncs for operators. */
import * as v from 'valibot'
import { SyncRun, SyncSettings, SyncSettingsInput } from '../models/sync.ts'
import { described } from '../schema/schemas.ts'
import { row } from './operator-row.ts'
import { int, text } from './params.ts'

const dry_run = described(v.optional(v.boolean(), false), 'Only report the differences')

export const SYNC_ENDPOINTS = {
  list_syncs: row.get('/syncs', {
    summary: 'List the latest syncs with their progress, newest first',
    query: {
      app_id: text().describe('Only syncs of this app'),
      limit: int({ min: 1, max: 1000, default: 50 }).describe('Syncs per response'),
    },
    output: v.strictObject({ items: v.array(SyncRun) }),
    followed: true,
    errors: [422, 429],
  }),
  accept_sync: row.post('/syncs/:run/accept', {
    summary: 'Confirm that what disappeared in a stopped sync is gone; the sync continues',
    body: v.object({ dry_run }),
    output: SyncRun,
    errors: [404, 409, 413, 415, 422],
  }),
  cancel_sync: row.post('/syncs/:run/cancel', {
    summary: 'Cancel a running sync; its results so far are kept, nothing more is marked as gone',
    body: v.object({ dry_run }),
    output: SyncRun,
    errors: [404, 409, 413, 415, 422],
  }),
  show_sync_settings: row.get('/apps/:app_id/sync', {
    summary: 'Show the sync settings of an app',
    output: SyncSettings,
    errors: [404],
  }),
  change_sync_settings: row.put('/apps/:app_id/sync', {
    summary: 'Change how an app is synced; members that are left out stay unchanged',
    body: v.object({ settings: SyncSettingsInput, dry_run }),
    output: SyncSettings,
    errors: [404, 409, 413, 415, 422],
  }),
} as const
