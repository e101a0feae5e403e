/** What operators read of the calls of the last days, from all hosts. */
import * as v from 'valibot'
import { LATENCY_BOUNDS_MS } from '../models/call-minutes.ts'
import { row } from './operator-row.ts'
import { int, oneOf, text } from './params.ts'

const describe = <S extends v.GenericSchema>(schema: S, description: string) =>
  v.pipe(schema, v.metadata({ description }))

const count = v.pipe(v.number(), v.safeInteger())

/** Most steps that one answer covers. */
export const MOST_STEPS = 2000

/** What calls are told apart by. */
export const CALL_GROUPS = ['connector', 'capability'] as const

const errors = v.strictObject({
  caller: describe(count, 'The request was wrong'),
  connector: describe(count, 'The connector failed, or did what it may not'),
  provider: describe(count, 'The system behind it failed, or did not answer'),
  operator: describe(count, 'A setting or a limit of this host kept it from working'),
  runtime: describe(count, 'The host itself failed'),
})

const percentile = v.nullable(describe(v.number(), 'In milliseconds, estimated from the buckets'))

export const CallStep = v.pipe(
  v.strictObject({
    at: describe(v.string(), 'When the step began, in UTC'),
    connector: v.nullable(describe(v.string(), 'Null where all are counted together')),
    capability: v.nullable(describe(v.string(), 'Null where all are counted together')),
    calls: count,
    errors: describe(errors, 'How many of them failed, by whose fault it was'),
    buckets: describe(v.array(count), 'How many took how long: see bounds_ms'),
    p50_ms: percentile,
    p95_ms: percentile,
    p99_ms: percentile,
    requests: describe(count, 'Requests that the calls sent upstream'),
    sent_bytes: count,
    received_bytes: count,
  }),
  v.metadata({ title: 'CallStep', description: 'The calls of one step of time' }),
)
export type CallStep = v.InferOutput<typeof CallStep>

export const CalledHost = v.pipe(
  v.strictObject({
    connector: v.string(),
    capability: v.string(),
    host: describe(v.string(), 'Where requests went, or were to go'),
    requests: describe(count, 'Requests that were sent'),
    refused: describe(count, 'Requests that the rules for egress refused'),
  }),
  v.metadata({ title: 'CalledHost', description: 'A host that a connector asked for' }),
)
export type CalledHost = v.InferOutput<typeof CalledHost>

export const CALL_MINUTE_ENDPOINTS = {
  list_call_minutes: row({
    method: 'GET',
    path: '/call-minutes',
    summary:
      'Count the calls of all hosts by steps of time: how many, failures by fault, times and bytes',
    query: {
      connector_id: text().describe('Only of this connector'),
      capability: text().describe('Only of this capability'),
      hours: int({ min: 1, max: 720, default: 24 }).describe('How far back'),
      step_minutes: int({ min: 1, max: 1440, default: 60 }).describe(
        `Length of a step; at most ${MOST_STEPS} steps fit an answer`,
      ),
      group: oneOf(CALL_GROUPS).describe(
        'Told apart by connector, or by connector and capability; absent: counted together',
      ),
    },
    output: v.strictObject({
      bounds_ms: describe(
        v.array(v.number()),
        'Upper bounds of the buckets; the last bucket has what took longer',
      ),
      items: describe(v.array(CallStep), 'Oldest first; steps without calls are left out'),
      more: describe(v.boolean(), 'Whether the oldest rows were left out'),
    }),
    errors: [422],
  }),
  list_called_hosts: row({
    method: 'GET',
    path: '/called-hosts',
    summary: 'List where the requests of connectors went in the last days, and what was refused',
    query: {
      connector_id: text().describe('Only of this connector'),
      hours: int({ min: 1, max: 720, default: 24 }).describe('How far back'),
    },
    output: v.strictObject({ items: v.array(CalledHost) }),
    errors: [422],
  }),
} as const

export const BOUNDS_MS: number[] = [...LATENCY_BOUNDS_MS]
