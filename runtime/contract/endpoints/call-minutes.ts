/** Statistics for operators about the calls of the last days, from all hosts. */
import * as v from 'valibot'
import { LATENCY_BOUNDS_MS } from '../models/call-minutes.ts'
import { count, described, strictObject } from '../schema/schemas.ts'
import { row } from './operator-row.ts'
import { int, oneOf, text } from './params.ts'

/** Maximum number of steps of one response. */
export const MAX_STEPS = 2000

/** Dimensions that calls can be grouped by. */
export const CALL_GROUPS = ['connector', 'capability'] as const

const errors = v.strictObject({
  caller: described(count, 'The request was wrong'),
  connector: described(count, 'The connector failed, or did something forbidden'),
  provider: described(count, 'The connected system failed, or did not respond'),
  operator: described(count, 'A setting or a limit of this host prevented it'),
  runtime: described(count, 'The host itself failed'),
})

const percentile = v.nullable(described(v.number(), 'In milliseconds, estimated from the buckets'))

export const CallStep = strictObject('CallStep', 'The calls of one step of time', {
  at: described(v.string(), 'Start of the step, in UTC'),
  connector: v.nullable(described(v.string(), 'Null where all are counted together')),
  capability: v.nullable(described(v.string(), 'Null where all are counted together')),
  calls: count,
  errors: described(errors, 'Number of failed calls, by responsible party'),
  buckets: described(v.array(count), 'Number of calls by duration: see bounds_ms'),
  p50_ms: percentile,
  p95_ms: percentile,
  p99_ms: percentile,
  requests: described(count, 'Requests that the calls sent upstream'),
  sent_bytes: count,
  received_bytes: count,
})
export type CallStep = v.InferOutput<typeof CallStep>

export const CalledHost = strictObject('CalledHost', 'A host that a connector sent requests to', {
  connector: v.string(),
  capability: v.string(),
  host: described(v.string(), 'Target of the requests, sent or refused'),
  requests: described(count, 'Requests that were sent'),
  refused: described(count, 'Requests that the rules for egress refused'),
})
export type CalledHost = v.InferOutput<typeof CalledHost>

export const CALL_MINUTE_ENDPOINTS = {
  list_call_minutes: row.get('/call-minutes', {
    summary:
      'Count the calls of all hosts per time step: number, failures by responsible party, durations and bytes',
    query: {
      connector_id: text().describe('Only of this connector'),
      capability: text().describe('Only of this capability'),
      hours: int({ min: 1, max: 720, default: 24 }).describe('Number of past hours'),
      step_minutes: int({ min: 1, max: 1440, default: 60 }).describe(
        `Length of a step; a response has at most ${MAX_STEPS} steps`,
      ),
      group: oneOf(CALL_GROUPS).describe(
        'Group by connector, or by connector and capability; absent: counted together',
      ),
    },
    output: v.strictObject({
      bounds_ms: described(
        v.array(v.number()),
        'Upper bounds of the buckets; one more bucket counts longer calls',
      ),
      items: described(v.array(CallStep), 'Oldest first; steps without calls are left out'),
      more: described(v.boolean(), 'Whether the oldest rows were left out'),
    }),
    errors: [422],
  }),
  list_called_hosts: row.get('/called-hosts', {
    summary: 'List the target hosts of connectors in the last days, with sent and refused requests',
    query: {
      connector_id: text().describe('Only of this connector'),
      hours: int({ min: 1, max: 720, default: 24 }).describe('Number of past hours'),
    },
    output: v.strictObject({ items: v.array(CalledHost) }),
    errors: [422],
  }),
} as const

export const BOUNDS_MS: number[] = [...LATENCY_BOUNDS_MS]
