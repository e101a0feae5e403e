/** The activity log, and information about the service: core-interface.md sections 1.11 and 1.15. */
import * as v from 'valibot'
import { count, described, nullable, strictObject } from '../schema/schemas.ts'
import { endpoint } from './endpoint.ts'
import { bool, datetime, int, text } from './params.ts'

const logs = endpoint('Logs')
const meta = endpoint('Meta')

const anyRecord = v.record(v.string(), v.unknown())

const ActivityLog = strictObject('ActivityLog', 'An action of a user or of the host', {
  event_hash: described(v.string(), 'Also covers the previous entry'),
  event_type: v.string(),
  event_type_user_friendly: v.string(),
  outcome: v.picklist(['Succeeded', 'Failed']),
  targets: v.array(anyRecord),
  actor: anyRecord,
  event_began_at: nullable(described(v.string(), 'UTC, without a zone')),
  event_metadata: anyRecord,
})

export const LogChain = strictObject(
  'LogChain',
  'Whether the newest entries are unaltered; `keyway audit verify` checks all of them',
  {
    checked: described(count, 'Number of newest entries checked; each matches the one before'),
    waiting: described(count, 'Entries that are not chained yet'),
    head: described(v.string(), 'Hash of the newest valid entry'),
    broken: nullable(
      described(
        v.strictObject({ event_type: v.string(), event_began_at: v.string() }),
        'The first invalid entry',
      ),
    ),
  },
)
export type LogChain = v.InferInput<typeof LogChain>

export const META_ENDPOINTS = {
  list_activity_logs: logs.get('/activity_logs', {
    summary: 'List the activity log, oldest first',
    who: 'logs.read',
    query: {
      since: datetime().describe('From this time on'),
      until: datetime().describe('Up to this time'),
      newest_first: bool(false).describe('In the opposite order'),
      event_type: text().describe(
        'Only events of this type, such as APP_CREATED. /docs/reference/events lists all',
      ),
      actor: text().describe('Only actions of this user: an id, or an e-mail address'),
      target: text().describe(
        'Only actions on this target: an id, the e-mail address of a user, or a name',
      ),
      limit: int({ min: 1, max: 100, default: 50 }).describe('Entries per response'),
      offset: int({ min: 0, default: 0 }).describe('Entries to skip'),
    },
    answer: 'limit-offset',
    output: ActivityLog,
  }),
  get_log_chain: logs.get('/activity_logs/chain', {
    summary: 'Check that the newest entries of the log are unaltered',
    who: 'logs.read',
    output: LogChain,
  }),
  get_art: meta.get('/art', {
    summary: 'Read a picture made of text characters',
    who: 'anybody',
    answer: 'text',
    output: v.string(),
  }),
  get_info: meta.get('/info', {
    summary: 'Read the name and version of the service',
    who: 'anybody',
    output: strictObject('ServiceInfo', { name: v.string(), version: v.string() }),
  }),
} as const
