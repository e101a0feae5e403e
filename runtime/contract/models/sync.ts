/** Syncs: core-interface.md sections 1.17 and 2.2; their state and settings for operators. */

import * as v from 'valibot'
import { count, described, nullable, strictObject, utcMoment } from '../schema/schemas.ts'
import type { TaskType } from './task-type.ts'

/** Type of the task about the failing syncs of an app. */
export const SYNC_TASK = 'SYNC_ERROR' satisfies TaskType

const SYNC_TYPES = ['full_sync'] as const

/** The phases of a run, in order. */
export const SYNC_PHASES = [
  'begin',
  'accounts',
  'resources',
  'entitlements',
  'associations',
  'activity',
  'judge',
  'accounts_gone',
  'rest_gone',
  'match',
  'people',
  'managers',
  'groups',
  'leavers',
  'tell',
  'permissions',
  'expenses',
  'end',
] as const
export type SyncPhase = (typeof SYNC_PHASES)[number]

/** STOPPED: suspiciously much disappeared, so nothing was marked as gone. CANCELLED: by an operator. */
export const RUN_STATES = ['RUNNING', 'SUCCEEDED', 'FAILED', 'STOPPED', 'CANCELLED'] as const
export type RunState = (typeof RUN_STATES)[number]

export const TriggerSyncInput = strictObject('TriggerSyncInput', {
  sync_type: v.picklist(SYNC_TYPES),
})

export const TriggerSyncOutput = strictObject('TriggerSyncOutput', {
  app_id: v.string(),
  sync_type: v.picklist(SYNC_TYPES),
  status: described(v.string(), 'SYNCING; follow sync_status of the app'),
})

const IdentityEvent = strictObject(
  'IdentityEvent',
  'A changed member of a user, found by a sync of the identity source',
  {
    id: v.string(),
    user_id: v.string(),
    detected_time: utcMoment,
    changed_field: described(
      v.string(),
      '`email`, `given_name`, `family_name`, `status`, `manager_id`, `groups`, or `custom_attributes.NAME`',
    ),
    old_field_value: nullable(v.string()),
    new_field_value: nullable(v.string()),
  },
)

export const IdentityEventsResult = strictObject('IdentityEventsResult', {
  identity_events: v.array(IdentityEvent),
  next_cursor: nullable(described(v.string(), 'Opaque; null at the end')),
  total_count: described(v.number(), 'Number of events that match the filters, on all pages'),
})

/** A run, as operators see it. */
export const SyncRun = strictObject('SyncRun', 'One sync of an app', {
  run: described(count, 'Number of the run'),
  app_id: v.string(),
  app_name: v.string(),
  state: described(
    v.picklist(RUN_STATES),
    'STOPPED: suspiciously much disappeared, so nothing was marked as gone. CANCELLED: by an operator',
  ),
  phase: v.picklist(SYNC_PHASES),
  counts: described(v.record(v.string(), v.number()), 'Progress so far, as counts by name'),
  skipped: described(v.array(v.string()), 'Phases that the connector does not offer'),
  problem: described(v.nullable(v.string()), 'The last problem'),
  attempts: described(count, 'Number of consecutive failed attempts'),
  next_try_at: v.nullable(utcMoment),
  began_at: utcMoment,
  ended_at: v.nullable(utcMoment),
})
export type SyncRun = v.InferOutput<typeof SyncRun>

const name = v.pipe(v.string(), v.minLength(1), v.maxLength(200))

/** An attribute of an account and the attribute of a user that must be equal. */
export const MatchRule = strictObject('MatchRule', {
  account: described(name, 'Attribute of the account: `username`, or a custom attribute'),
  user: described(name, 'Attribute of the user: `email`, or a custom attribute'),
})
export type MatchRule = v.InferOutput<typeof MatchRule>

export const IdentityMapping = strictObject(
  'IdentityMapping',
  'How users are created from an identity source',
  {
    manager: described(
      v.nullable(
        v.strictObject({
          attribute: described(name, 'Custom attribute of the account that identifies the manager'),
          by: described(
            v.picklist(['id', 'email']),
            'Its content: the id of an account, or an e-mail address',
          ),
        }),
      ),
      'Null: managers are not changed',
    ),
    groups: described(v.nullable(name), 'Type of the entitlements that become groups; null: none'),
    attributes: described(
      v.pipe(
        v.record(name, name),
        v.check((all) => Object.keys(all).length <= 100, 'at most 100 attributes'),
      ),
      'Custom attribute of the user → attribute of the account',
    ),
  },
)
export type IdentityMapping = v.InferOutput<typeof IdentityMapping>

const whole = (min: number, max: number, description: string) =>
  described(v.pipe(v.number(), v.safeInteger(), v.minValue(min), v.maxValue(max)), description)

const settings = {
  every_hours: whole(0, 8760, 'Hours between scheduled syncs; 0: none'),
  page_size: whole(1, 1000, 'Items requested per page'),
  max_rows: whole(
    1,
    1_000_000_000,
    'Number of rows after which a run is considered endless and is ended',
  ),
  max_repeated_percent: whole(
    50,
    100,
    'Maximum share of rows of a listing that repeat earlier rows of the run, checked once more than 1000 rows repeat; above it the listing is considered endless and is ended. 100: for connectors that list items several times',
  ),
  match_rules: described(
    v.pipe(v.array(MatchRule), v.maxLength(10)),
    'Rules that match accounts to users, tried before the e-mail address; the first match counts',
  ),
  identity_source: described(
    v.nullable(IdentityMapping),
    'Null: no users are created from this app; at most one app creates users',
  ),
}

export const SyncSettings = strictObject('SyncSettings', {
  app_id: v.string(),
  ...settings,
  next_at: v.nullable(utcMoment),
})
export type SyncSettings = v.InferOutput<typeof SyncSettings>

/** A change of settings. Members that are left out stay as they are. */
export const SyncSettingsInput = v.pipe(
  v.partial(v.strictObject(settings)),
  v.metadata({ title: 'SyncSettingsInput' }),
)
export type SyncSettingsInput = v.InferOutput<typeof SyncSettingsInput>
