/** Inline webhooks and their headers: core-interface.md sections 1.11, 1.17 and 2.2. */
import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { nullable, strictObject } from '../schema/schemas.ts'

/** Responses that count as success, in addition to a status of 2xx -> their name in the documentation. */
export const WEBHOOK_ANSWERS = {
  json: 'JSON',
  json_or_204: 'JSON, or 204',
  any: 'any 2xx',
} as const

type WebhookRow = { what: string; answer: keyof typeof WEBHOOK_ANSWERS }

/** Type of a webhook -> its question or message, and the response that counts as success. */
export const WEBHOOK_TYPES = {
  PRE_APPROVAL: { what: 'whether a request needs no approval', answer: 'json' },
  PROVISION: { what: 'to grant access', answer: 'json_or_204' },
  DEPROVISION: {
    what: 'to remove the access of an ended request, or of a line that a review rejected',
    answer: 'json_or_204',
  },
  REQUEST_VALIDATION: { what: 'whether a request may be made', answer: 'json' },
  SIEM: { what: 'every entry of the activity log', answer: 'any' },
} as const satisfies Record<string, WebhookRow>

export const INLINE_WEBHOOK_TYPES = keysOf(WEBHOOK_TYPES)
export type InlineWebhookType = keyof typeof WEBHOOK_TYPES

export const InlineWebhook = strictObject(
  'InlineWebhook',
  'A call to one of your systems at a certain event',
  {
    id: v.string(),
    hook_type: v.picklist(INLINE_WEBHOOK_TYPES),
    name: v.string(),
    description: nullable(v.string()),
  },
)
export type InlineWebhook = v.InferInput<typeof InlineWebhook>

/** Maximum length of a name, in characters. It is in an index. */
export const MAX_WEBHOOK_NAME = 255
/** Maximum length of a description, in characters. */
export const MAX_DESCRIPTION = 2000
/** Maximum length of a URL, in characters. */
export const MAX_URL = 2048
/** Maximum number of headers of one webhook, and maximum length of a value, in characters. */
const MAX_HEADERS = 20
const MAX_VALUE = 8192

/** Headers that Keyway sets in every delivery. */
const OWN_HEADERS: readonly string[] = [
  'accept',
  'accept-encoding',
  'content-type',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]

const headerName = v.pipe(
  v.string(),
  v.regex(/^[!#$%&'*+.^_`|~0-9a-zA-Z-]{1,100}$/, 'is not a header name'),
  v.check((one) => !OWN_HEADERS.includes(one.toLowerCase()), 'is set by Keyway itself'),
)
const headerValue = v.pipe(
  v.string(),
  v.maxLength(MAX_VALUE),
  // Not `check`, whose finding would reveal the value.
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(dataset.value)) return
    const message = 'holds a character that cannot be sent (control, or outside Latin-1)'
    addIssue({ message, received: 'it' })
  }),
  v.metadata({ secret: true }),
)
const tooMany = `must be at most ${MAX_HEADERS} headers`

/** Headers by name. */
export const WebhookHeaders = v.pipe(
  v.record(headerName, headerValue),
  v.maxEntries(MAX_HEADERS, tooMany),
  v.metadata({ description: 'Headers by name; the values are stored encrypted and never shown' }),
)

/** Changes of headers. Headers that are not listed stay. */
export const WebhookHeadersChange = v.pipe(
  v.record(headerName, v.nullable(headerValue)),
  v.maxEntries(MAX_HEADERS, tooMany),
  v.metadata({ description: 'Headers by name; null removes a header, and the others stay' }),
)
