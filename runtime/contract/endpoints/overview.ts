/** Overview for operators: what needs attention, and the state of everything else. */
import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { count, described, strictObject } from '../schema/schemas.ts'
import { row } from './operator-row.ts'

const moment = v.nullable(described(v.string(), 'ISO 8601, UTC'))

/** Conditions that need a person, worst first. `bad`: something fails. `wait`: it waits for a decision. */
export const ATTENTION = {
  connector_quarantined: {
    level: 'bad',
    meaning: 'A connector takes no calls, because its worker kept dying',
  },
  connector_broken: { level: 'bad', meaning: 'A connector cannot be served' },
  sync_stopped: { level: 'bad', meaning: 'A sync stopped because suspiciously much disappeared' },
  sync_failed: { level: 'bad', meaning: 'A sync failed' },
  app_away: { level: 'bad', meaning: 'The system of an app does not answer' },
  webhook_failing: { level: 'bad', meaning: 'Events cannot be delivered to a webhook' },
  host_problem: { level: 'bad', meaning: 'A host cannot serve something that is installed' },
  removal_failed: { level: 'bad', meaning: 'Access has ended and was not removed' },
  connector_suspect: {
    level: 'wait',
    meaning: 'A worker of a connector died; the connector is being watched',
  },
  version_waits: { level: 'wait', meaning: 'A newer version is installed and does not serve' },
} as const satisfies Record<string, { level: 'bad' | 'wait'; meaning: string }>
export type AttentionKind = keyof typeof ATTENTION
export const ATTENTION_KINDS = keysOf(ATTENTION)

export const Attention = strictObject('Attention', 'A condition that needs a person', {
  kind: v.picklist(ATTENTION_KINDS),
  level: described(
    v.picklist(['bad', 'wait']),
    'bad: something fails. wait: it waits for a person',
  ),
  name: described(v.string(), 'Name of the connector, app, webhook or host'),
  id: described(
    v.nullable(v.string()),
    'Id of the connector, app, webhook or host; null if it has none',
  ),
  detail: v.nullable(v.string()),
  since: moment,
})
export type Attention = v.InferOutput<typeof Attention>

const Turn = v.strictObject({
  name: v.string(),
  user_id: v.nullable(v.string()),
  group_id: v.nullable(v.string()),
  tasks: count,
  oldest_at: v.string(),
})
export type Turn = v.InferOutput<typeof Turn>

export const Overview = strictObject('Overview', 'Current state of the deployment', {
  attention: described(v.array(Attention), 'Worst first'),
  turns: described(v.array(Turn), 'People and groups with open tasks, most tasks first'),
  requests: v.strictObject({
    open: described(count, 'Access requests in progress, counted up to 10,000'),
    oldest_at: moment,
    ending: described(count, 'Access that ends within seven days, counted up to 10,000'),
  }),
  apps: v.strictObject({
    connected: count,
    troubled: described(count, 'Apps whose last sync failed or stopped'),
  }),
  connectors: v.strictObject({ serving: count, all: count }),
  hosts: v.strictObject({ live: count, all: count, generation: v.number() }),
})
export type Overview = v.InferOutput<typeof Overview>

export const OVERVIEW_ENDPOINTS = {
  show_overview: row.get('/overview', {
    summary: 'Show what needs attention, who has open tasks, and the state of the deployment',
    output: Overview,
  }),
} as const
