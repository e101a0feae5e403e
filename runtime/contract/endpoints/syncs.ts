/** What operators see of syncs, and set. */
import * as v from 'valibot'
import { SyncRun, SyncSettings, SyncSettingsInput } from '../models/sync.ts'
import { described } from '../schema/schemas.ts'
import { row } from './operator-row.ts'
import { int, text } from './params.ts'

const dry_run = described(v.optional(v.boolean(), false), 'Only say what would be different')

export const SYNC_ENDPOINTS = {
  list_syncs: row.get('/syncs', {
    summary: 'List the latest syncs with how far they are, newest first',
    query: {
      app_id: text().describe('Only of this app'),
      limit: int({ min: 1, max: 1000, default: 50 }).describe('Syncs per answer'),
    },
    output: v.strictObject({ items: v.array(SyncRun) }),
    followed: true,
    errors: [422, 429],
  }),
  accept_sync: row.post('/syncs/:run/accept', {
    summary: 'Say of a stopped sync that what vanished is gone indeed; it goes on',
    body: v.object({ dry_run }),
    output: SyncRun,
    errors: [404, 409, 413, 415, 422],
  }),
  cancel_sync: row.post('/syncs/:run/cancel', {
    summary: 'End a running sync; what it brought so far stays, nothing more is marked as gone',
    body: v.object({ dry_run }),
    output: SyncRun,
    errors: [404, 409, 413, 415, 422],
  }),
  show_sync_settings: row.get('/apps/:app_id/sync', {
    summary: 'Show how an app is synced',
    output: SyncSettings,
    errors: [404],
  }),
  change_sync_settings: row.put('/apps/:app_id/sync', {
    summary: 'Change how an app is synced; what is left out stays as it is',
    body: v.object({ settings: SyncSettingsInput, dry_run }),
    output: SyncSettings,
    errors: [404, 409, 413, 415, 422],
  }),
} as const
