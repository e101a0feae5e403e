/**
 * Operations below `/operator`, by which operators change installed connectors and inline webhooks. Routes,
 * validation and the OpenAPI document are derived from these rows.
 */
import * as v from 'valibot'
import { CAUSE_KINDS } from '../models/causes.ts'
import { described, strictObject } from '../schema/schemas.ts'
import type { AnySchema } from '../schema/shape.ts'
import { CALL_MINUTE_ENDPOINTS } from './call-minutes.ts'
import { DOCTOR_ENDPOINTS } from './doctor.ts'
import {
  Generation,
  InstalledConnector,
  NodeRow,
  Publisher,
  Statement,
  Want,
} from './generation.ts'
import {
  CHANGE,
  CHANGE_QUERY,
  Changed,
  PackageFinding,
  PackageReport,
  Uploaded,
} from './installing.ts'
import { JOB_ENDPOINTS } from './jobs.ts'
import { MAIL_ENDPOINTS } from './mail.ts'
import { type OperatorRow, row } from './operator-row.ts'
import { OVERVIEW_ENDPOINTS } from './overview.ts'
import { bool, int, text } from './params.ts'
import { PERSONAL_DATA_ENDPOINTS } from './personal-data.ts'
import { PUBLISHED_INDEX_ENDPOINTS } from './published-indexes.ts'
import { ROTATION_ENDPOINTS } from './rotation.ts'
import { SETTING_ENDPOINTS } from './settings.ts'
import { SYNC_ENDPOINTS } from './syncs.ts'
import { WEBHOOK_ENDPOINTS } from './webhooks.ts'

/** Largest number of a generation: the maximum of the database column. */
const MAX_GENERATION = 2 ** 31 - 1

const grants = described(
  v.optional(v.union([v.literal('all'), v.pipe(v.array(v.string()), v.maxLength(1000))]), []),
  'Grants to make with it: `all` wants, or some by kind and subject, such as `egress https://api.acme.example` or `limit memory_mb`',
)

const selection = described(
  v.union([v.literal('all'), v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(1000))]),
  '`all`, or some by kind and subject, such as `egress https://api.acme.example`, `capability create_account` or `clear_secret`',
)

const Shown = strictObject('InstalledConnectorDetails', {
  ...InstalledConnector.pipe[0].entries,
  wants: described(v.array(Want), 'Wants of the active version'),
  withheld: described(v.array(Want), 'Wants of the active version that are not granted'),
  probe: described(v.boolean(), 'Whether there are credentials for trying new versions'),
})

const CallRecord = strictObject('CallRecord', 'A call that has ended', {
  at: described(v.string(), 'When it ended, in UTC'),
  request_id: v.string(),
  connector: v.string(),
  capability: v.string(),
  version: described(
    v.nullable(v.string()),
    'The version that responded, or for a failed call the version that received calls; null if unknown',
  ),
  outcome: described(v.string(), '`ok`, or the error code'),
  message: described(
    v.nullable(v.string()),
    'Error message that the caller received, at most 500 characters',
  ),
  ms: v.number(),
  cause: described(
    v.strictObject({ kind: v.picklist(CAUSE_KINDS), id: v.string() }),
    'Cause of the call',
  ),
  app_id: described(v.nullable(v.string()), 'The app for which the core made the call'),
  upstream: described(
    v.array(
      v.strictObject({
        method: v.string(),
        host: v.string(),
        path: described(v.string(), 'Without the query'),
        query: described(v.string(), 'Names and values; a secret value is shown as …'),
        status: v.nullable(v.number()),
        error: v.nullable(v.string()),
        sent_bytes: v.number(),
        received_bytes: v.number(),
        begin_ms: described(v.number(), 'Start after the start of the call, in milliseconds'),
        ms: v.number(),
      }),
    ),
    'Requests of the call',
  ),
  log: described(
    v.array(v.strictObject({ level: v.string(), message: v.string() })),
    'Log lines of the connector',
  ),
})
export type CallRecord = v.InferOutput<typeof CallRecord>

const items = <const S extends v.GenericSchema>(item: S) => v.strictObject({ items: v.array(item) })

export const OPERATOR_ENDPOINTS = {
  upload_package: row.post('/packages', {
    summary: 'Check and store a package; it receives no calls until it is activated',
    query: {
      ...CHANGE_QUERY,
      change_publisher: bool(false).describe('Accept another publisher than before'),
    },
    upload: true,
    output: Uploaded,
    status: 201,
    errors: [409, 413, 415, 422],
  }),
  show_connector: row.get('/connectors/:connector_id', {
    summary:
      'Show a connector: its installed versions, wants and grants; for a built-in one only its wants',
    output: Shown,
    errors: [404],
  }),
  show_version: row.get('/connectors/:connector_id/versions/:digest', {
    summary:
      'Show an installed version that does not serve: its additional wants, and its breaking changes',
    output: PackageReport,
    errors: [404],
  }),
  activate_connector: row.post('/connectors/:connector_id/activate', {
    summary: 'Try an installed version, and direct calls to it',
    body: v.object({
      digest: v.pipe(v.string(), v.maxLength(64)),
      grant: grants,
      allow_breaking: v.optional(v.boolean(), false),
      allow_downgrade: v.optional(v.boolean(), false),
      ...CHANGE,
    }),
    output: Changed,
    errors: [404, 409, 413, 415, 422],
  }),
  disable_connector: row.post('/connectors/:connector_id/disable', {
    summary: 'Stop all calls to a connector from any source',
    body: v.object({
      at_once: described(
        v.optional(v.boolean(), false),
        'Also stop calls and page sequences that have started',
      ),
      ...CHANGE,
    }),
    output: Changed,
    errors: [404, 409, 413, 415, 422],
  }),
  enable_connector: row.post('/connectors/:connector_id/enable', {
    summary: 'Allow calls to a disabled connector again',
    body: v.object(CHANGE),
    output: Changed,
    errors: [404, 409, 413, 415, 422],
  }),
  remove_connector: row.delete('/connectors/:connector_id', {
    summary: 'Remove an installed connector with its versions and grants',
    query: CHANGE_QUERY,
    output: Changed,
    errors: [404, 409, 422],
  }),
  grant_to_connector: row.post('/connectors/:connector_id/grant', {
    summary: 'Grant wants of a connector’s versions',
    body: v.object({ wants: selection, ...CHANGE }),
    output: Changed,
    errors: [404, 409, 413, 415, 422],
  }),
  revoke_from_connector: row.post('/connectors/:connector_id/revoke', {
    summary: 'Revoke grants, also for calls that have started',
    body: v.object({ wants: selection, ...CHANGE }),
    output: Changed,
    errors: [404, 409, 413, 415, 422],
  }),
  set_probe: row.put('/connectors/:connector_id/probe', {
    summary: 'Store credentials for trying new versions (validate_credentials)',
    body: v.object({
      auth: v.optional(v.nullable(v.record(v.string(), v.unknown())), null),
      credentials: v.optional(v.nullable(v.array(v.record(v.string(), v.unknown()))), null),
      settings: v.optional(v.nullable(v.record(v.string(), v.unknown())), null),
    }),
    output: v.strictObject({ probe: v.boolean() }),
    errors: [404, 413, 415, 422],
  }),
  forget_probe: row.delete('/connectors/:connector_id/probe', {
    summary: 'Delete the credentials for trying new versions',
    output: v.strictObject({ probe: v.boolean() }),
    errors: [404],
  }),
  list_generations: row.get('/generations', {
    summary: 'List the changes of installed connectors, with author, time and reason, newest first',
    query: {
      limit: int({ min: 1, max: 100, default: 20 }).describe('Generations per response'),
      before: int({ min: 0, max: MAX_GENERATION, default: 0 }).describe(
        'Only generations older than this; 0: from the newest',
      ),
    },
    output: items(Generation),
    errors: [422],
  }),
  show_generation: row.get('/generations/:generation', {
    summary: 'Show a whole generation; `newest` is the newest one',
    output: v.strictObject({ generation: v.number(), statement: Statement }),
    errors: [404],
  }),
  compare_generations: row.get('/generations/:generation/difference', {
    summary: 'Compare two generations',
    query: { since: int({ min: 0, default: 0 }).describe('The earlier one') },
    output: v.strictObject({
      from: v.number(),
      to: v.number(),
      difference: v.array(v.string()),
    }),
    errors: [404, 422],
  }),
  roll_back: row.post('/rollback', {
    summary: 'Serve the versions of an earlier generation, with current grants',
    body: v.object({
      to: described(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), 'Number of the generation'),
      grant: grants,
      ...CHANGE,
    }),
    output: Changed,
    errors: [404, 409, 413, 415, 422],
  }),
  list_publishers: row.get('/publishers', {
    summary: 'List trusted and formerly trusted keys of publishers',
    output: items(Publisher),
  }),
  trust_publisher: row.post('/publishers', {
    summary: 'Trust packages signed by a key',
    body: v.object({
      name: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
      public_key: described(
        v.pipe(v.string(), v.maxLength(4000)),
        'PEM, as written by keyway keygen',
      ),
      ...CHANGE,
    }),
    output: Changed,
    errors: [409, 413, 415, 422],
  }),
  distrust_publisher: row.delete('/publishers/:key', {
    summary: 'Stop trusting a key; packages signed by it become invalid and stop serving',
    query: CHANGE_QUERY,
    output: Changed,
    errors: [404, 409, 422],
  }),
  list_nodes: row.get('/nodes', {
    summary: 'List the hosts on this database, with the generation that each serves',
    output: v.strictObject({ generation: v.number(), items: v.array(NodeRow) }),
  }),
  list_calls: row.get('/calls', {
    summary: 'List the latest calls of this host with their requests, newest first',
    query: {
      connector_id: text().describe('Only of this connector'),
      app_id: text().describe('Only calls that the core made for this app'),
      cause: text().describe(
        `Only calls with this cause: ${CAUSE_KINDS.join(', ')}; or one of them with its id, as in sync:17`,
      ),
      limit: int({ min: 1, max: 1000, default: 50 }).describe('Calls per response'),
    },
    output: items(CallRecord),
    errors: [422],
  }),
  ...OVERVIEW_ENDPOINTS,
  ...CALL_MINUTE_ENDPOINTS,
  ...WEBHOOK_ENDPOINTS,
  ...JOB_ENDPOINTS,
  ...MAIL_ENDPOINTS,
  ...PUBLISHED_INDEX_ENDPOINTS,
  ...ROTATION_ENDPOINTS,
  ...DOCTOR_ENDPOINTS,
  ...SYNC_ENDPOINTS,
  ...SETTING_ENDPOINTS,
  ...PERSONAL_DATA_ENDPOINTS,
} as const satisfies Record<string, OperatorRow>

export type OperatorEndpointName = keyof typeof OPERATOR_ENDPOINTS
/** Parsed body of an endpoint, or null if it has none. */
export type OperatorBody<N extends OperatorEndpointName> =
  (typeof OPERATOR_ENDPOINTS)[N]['body'] extends infer B extends AnySchema ? v.InferOutput<B> : null
export type { OperatorRow }
export { Changed, PackageFinding, PackageReport }
