/** Syncs: core-interface.md sections 1.17 and 2.2; what operators see of them and say about them. */
import * as v from 'valibot'
import { count, described, nullable, strictObject, utcMoment } from '../schema/schemas.ts'

const SYNC_TYPES = ['full_sync'] as const

/** The parts of a run, in their order. */
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

/** STOPPED: suspiciously much vanished; nothing was marked as gone. CANCELLED: by an operator. */
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
  'One member of a user that a sync of the identity source found to be different',
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
  total_count: described(v.number(), 'How many fit the filters, on all pages'),
})

/** A run as operators see it. */
export const SyncRun = strictObject('SyncRun', 'One sync of an app', {
  run: described(count, 'Its number'),
  app_id: v.string(),
  app_name: v.string(),
  state: described(
    v.picklist(RUN_STATES),
    'STOPPED: suspiciously much vanished; nothing was marked as gone. CANCELLED: by an operator',
  ),
  phase: v.picklist(SYNC_PHASES),
  counts: described(v.record(v.string(), v.number()), 'What was done so far, by name'),
  skipped: described(v.array(v.string()), 'Phases that the connector does not offer'),
  problem: described(v.nullable(v.string()), 'What went wrong last'),
  attempts: described(count, 'Tries in a row that failed'),
  next_try_at: v.nullable(utcMoment),
  began_at: utcMoment,
  ended_at: v.nullable(utcMoment),
})
export type SyncRun = v.InferOutput<typeof SyncRun>

const name = v.pipe(v.string(), v.minLength(1), v.maxLength(200))

/** An attribute of an account and the attribute of a user that say the same. */
export const MatchRule = strictObject('MatchRule', {
  account: described(name, 'Attribute of the account: `username`, or a custom attribute'),
  user: described(name, 'Attribute of the user: `email`, or a custom attribute'),
})
export type MatchRule = v.InferOutput<typeof MatchRule>

export const IdentityMapping = strictObject(
  'IdentityMapping',
  'How an identity source makes users',
  {
    manager: described(
      v.nullable(
        v.strictObject({
          attribute: described(name, 'Custom attribute of the account that names the manager'),
          by: described(
            v.picklist(['id', 'email']),
            'What it holds: an account’s id, or an e-mail',
          ),
        }),
      ),
      'Null: managers are left alone',
    ),
    groups: described(
      v.nullable(name),
      'Type of the entitlements that become groups; null: none do',
    ),
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
  page_size: whole(1, 1000, 'Items that are asked for at once'),
  max_rows: whole(1, 1_000_000_000, 'Rows after which a run is taken for endless and ended'),
  max_repeated_percent: whole(
    50,
    100,
    'How much of what a listing brings may have been listed already in the run, once that is more than 1000 rows; a listing that repeats more is taken for endless and ended. 100: for connectors that list things several times',
  ),
  match_rules: described(
    v.pipe(v.array(MatchRule), v.maxLength(10)),
    'How accounts find their user, before the e-mail address; the first that fits counts',
  ),
  identity_source: described(
    v.nullable(IdentityMapping),
    'Null: users are not made from this app; one app at most makes them',
  ),
}

export const SyncSettings = strictObject('SyncSettings', {
  app_id: v.string(),
  ...settings,
  next_at: v.nullable(utcMoment),
})
export type SyncSettings = v.InferOutput<typeof SyncSettings>

/** Members that are left out stay as they are. */
export const SyncSettingsInput = v.pipe(
  v.partial(v.strictObject(settings)),
  v.metadata({ title: 'SyncSettingsInput' }),
)
export type SyncSettingsInput = v.InferOutput<typeof SyncSettingsInput>
