/** Inline webhooks, managed by operators: rows of OPERATOR_ENDPOINTS. */
import * as v from 'valibot'
import {
  INLINE_WEBHOOK_TYPES,
  MAX_DESCRIPTION,
  MAX_URL,
  MAX_WEBHOOK_NAME,
  WebhookHeaders,
  WebhookHeadersChange,
} from '../models/inline-webhook.ts'
import { described, keptNull, nullable, strictObject } from '../schema/schemas.ts'
import { row } from './operator-row.ts'
import { bool } from './params.ts'

const Feed = v.strictObject({
  waiting: described(v.number(), 'Undelivered events, counted up to 1,000'),
  failing_since: nullable(v.string()),
  next_try_at: nullable(v.string()),
  problem: nullable(described(v.string(), 'The last failure')),
})

export const Webhook = strictObject('Webhook', 'An inline webhook, as operators see it', {
  id: v.string(),
  hook_type: v.picklist(INLINE_WEBHOOK_TYPES),
  name: v.string(),
  description: nullable(v.string()),
  url: nullable(described(v.string(), 'Target URL')),
  headers: described(v.array(v.string()), 'Names of its headers'),
  enabled: v.boolean(),
  feed: nullable(described(Feed, 'Progress of a webhook of type SIEM')),
})
export type Webhook = v.InferOutput<typeof Webhook>

export const WebhookChanged = strictObject('WebhookChanged', 'Outcome of a change', {
  changed: described(v.boolean(), 'False if nothing had to change, and for a dry run'),
  difference: described(
    v.array(v.string()),
    'Actual or, for a dry run, expected differences, as text',
  ),
  webhook: described(v.nullable(Webhook), 'The webhook now; null if there is none'),
  secret: described(
    v.nullable(v.string()),
    'Signing secret, if a new one was created; it is shown only here',
  ),
})
export type WebhookChanged = v.InferOutput<typeof WebhookChanged>

export const WebhookTried = strictObject('WebhookTried', 'Result of sending a sample', {
  ok: described(v.boolean(), 'Whether it would count as a success'),
  status: described(v.nullable(v.number()), 'HTTP status; null if there was no response'),
  ms: described(v.number(), 'Duration, in milliseconds'),
  problem: described(v.nullable(v.string()), 'Error as text'),
  response: described(v.nullable(v.record(v.string(), v.unknown())), 'The parsed response'),
  sent: described(v.record(v.string(), v.unknown()), 'The sample that was sent'),
})
export type WebhookTried = v.InferOutput<typeof WebhookTried>

const name = v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_WEBHOOK_NAME))
const description = v.pipe(v.string(), v.maxLength(MAX_DESCRIPTION))
const url = described(
  v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_URL)),
  'An https URL; private addresses and http require that KEYWAY_PRIVATE_EGRESS grants `webhooks=host:port`',
)
const dryRun = described(v.optional(v.boolean(), false), 'Only report the differences')

export const WEBHOOK_ENDPOINTS = {
  list_webhooks: row.get('/webhooks', {
    summary: 'List inline webhooks, with their target and whether they work',
    output: v.strictObject({ items: v.array(Webhook) }),
  }),
  create_webhook: row.post('/webhooks', {
    summary: 'Create an inline webhook; only this response shows its signing secret',
    body: v.object({
      hook_type: v.picklist(INLINE_WEBHOOK_TYPES),
      name,
      description: keptNull(description),
      url,
      headers: v.optional(WebhookHeaders, {}),
      dry_run: dryRun,
    }),
    output: WebhookChanged,
    status: 201,
    errors: [413, 415, 422],
  }),
  show_webhook: row.get('/webhooks/:webhook_id', {
    summary: 'Show an inline webhook',
    output: Webhook,
    errors: [404],
  }),
  update_webhook: row.patch('/webhooks/:webhook_id', {
    summary: 'Change an inline webhook, except its type; members that are left out stay unchanged',
    body: v.object({
      name: v.optional(name),
      description: keptNull(description),
      url: v.optional(url),
      headers: v.optional(WebhookHeadersChange),
      enabled: v.optional(v.boolean()),
      dry_run: dryRun,
    }),
    output: WebhookChanged,
    errors: [404, 413, 415, 422],
  }),
  delete_webhook: row.delete('/webhooks/:webhook_id', {
    summary: 'Delete an inline webhook that no settings, permission or rule refers to',
    query: { dry_run: bool(false).describe('Only report the differences') },
    output: WebhookChanged,
    errors: [404, 409, 422],
  }),
  renew_webhook_secret: row.post('/webhooks/:webhook_id/secret', {
    summary: 'Create a new signing secret; for a day the previous one signs, too',
    body: v.object({ dry_run: dryRun }),
    output: WebhookChanged,
    errors: [404, 413, 415, 422],
  }),
  test_webhook: row.post('/webhooks/:webhook_id/test', {
    summary: 'Send a sample, and show the response',
    output: WebhookTried,
    errors: [404],
  }),
} as const
