/** Inline webhooks and uploads in the generated reference: what no table says. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { InlineWebhookType } from '../runtime/contract/models/inline-webhook.ts'
import { code, table } from './markdown.ts'

/** Title and body of each section. */
export const webhookSections = (): [string, string][] => [
  ['Webhooks', webhooks()],
  ['Uploads', uploads()],
  ['Renewing access tokens', renewals()],
]

/** What each type is for, and which answers are a success. */
const TYPES: Record<InlineWebhookType, readonly [what: string, success: string]> = {
  PRE_APPROVAL: ['whether a request needs no approval', 'JSON'],
  REQUEST_VALIDATION: ['whether a request may be made', 'JSON'],
  PROVISION: ['to give access', 'JSON, or 204'],
  DEPROVISION: ['to take access back', 'JSON, or 204'],
  SIEM: ['what was done: every entry of the activity log', 'any 2xx'],
}

function webhooks(): string {
  const rows = Object.entries(TYPES).map(([type, row]) => [code(type), ...row])
  return [
    'A webhook is a POST of JSON to a system of yours. It is made with `keyway webhooks add` or `POST /operator/webhooks`, and chosen in settings, permissions and rules.',
    '',
    table(['type', 'what it is asked, or told', 'success'], rows),
    '',
    'A success has a status of 2xx besides. What is read of JSON is the object in `output`, or else the one in `response`. An answer has 15 seconds and 1 MiB; no redirect is followed, and nothing but SIEM is sent twice.',
    '',
    'Addresses are https. What is private, or http, is granted by the operator as for connectors: `KEYWAY_PRIVATE_EGRESS=webhooks=10.0.0.5:8443`; so no connector may be called `webhooks`. What headers hold is kept sealed and shown to nobody; an address at another host takes no header along that is not sent again.',
    '',
    'The body begins with `application` (`app_id`, `instance_id`, `user_friendly_label`), `permissions` (each `label`, `value`: its id in the app or else in Keyway, `type`, `source`: SYNCED or NATIVE) and `custom_fields` (null); behind them stand `event` (the type), `access_request_id`, `requester` and `target`. That of SIEM is `{ "event": { ... } }`. Samples of `keyway webhooks test` have `"test": true`.',
    '',
    '**SIEM** delivers in order, at least once: what is sent again has the same `webhook-id`. It begins with what happens after it was made, goes on where it stopped, also after it was off, and pauses longer after each failure, up to 15 minutes; after a day the admins have a task of the type `WEBHOOK_FAILING`.',
    '',
    '**Signature**, as [Standard Webhooks](https://www.standardwebhooks.com) has it: `webhook-id`, `webhook-timestamp` (Unix seconds) and `webhook-signature`: `v1,` and the base64 of the HMAC-SHA256 over id, timestamp and body with dots between; for a day after `--new-secret` a second one of the old secret follows a space. To verify it:',
    '',
    '```ts',
    readFileSync(
      path.join(import.meta.dirname, '../test/fixtures/readme/verify-webhook.ts'),
      'utf8',
    ).trim(),
    '```',
  ].join('\n')
}

const uploads = (): string =>
  [
    '`POST /accounts/upload` adds and changes accounts of a custom app; those of a connected one come from its system (422). One is found by `unique_identifier`, or where that is null by its e-mail, which becomes the id of a new one. It belongs to the user of its e-mail. Nobody is removed for not being named. An upload is worked through in the background, all of it or nothing; whether it was, and how many accounts it added and changed, is in the activity log (`ACCOUNTS_UPLOADED`). The same upload again changes nothing. `permissions` and `attributes` are kept with the account: they cannot be requested.',
    '',
    '`POST /activity_records` sets `last_login` (`LOGIN`) and `last_activity` (`ACTIVITY`). The account is one of `source_app_id`, or of the one app whose `instance_id` is `app.instance_identifier`; it is found by `external_id`, or without it by e-mail. Records of accounts that are not found, or of apps that their sender does not manage, are counted in the activity log (`ACTIVITY_RECORDS_UPLOADED`) and ignored.',
    '',
    'When an account was used never goes back, and what lies ahead counts as now. Both take 10,000 rows and 8 MiB, need to manage the app, and can be asked for during 30 days.',
  ].join('\n')

const renewals = (): string =>
  'An access token of a connected app is renewed before it ends, where its credentials have what that takes: `client_id`, `client_secret` and `refresh_token` beside the `access_token` of the kind `oauth`, or client credentials where the connector takes them. With `expires_in` beside them, the first renewal waits until a fifth of that time is left, at most ten minutes; without, it is at once. Later ones go by what the token endpoint says, or by an hour. From then on Keyway alone may use the refresh token: servers that rotate it take a second use for theft. What fails is tried again with growing pauses for two days; after some 15 minutes the admins of the app have a task of the type `TOKEN_NOT_RENEWED`.'
