/** Inline webhooks, and the headers that go with them: core-interface.md sections 1.11, 1.17 and 2.2. */
import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { nullable, strictObject } from '../schema/schemas.ts'

/** WEBHOOK_ANSWERS: which answer, in addition to a status of 2xx, is a success -> its words. */
export const WEBHOOK_ANSWERS = {
  json: 'JSON',
  json_or_204: 'JSON, or 204',
  any: 'any 2xx',
} as const

type WebhookRow = { what: string; answer: keyof typeof WEBHOOK_ANSWERS }

/** WEBHOOK_WORDS: type of a webhook -> what it is asked or told, and how it says that it has done so. */
export const WEBHOOK_WORDS = {
  PRE_APPROVAL: { what: 'whether a request needs no approval', answer: 'json' },
  PROVISION: { what: 'to give access', answer: 'json_or_204' },
  DEPROVISION: {
    what: 'to take access back, of a request that ended or a line that a review rejected',
    answer: 'json_or_204',
  },
  REQUEST_VALIDATION: { what: 'whether a request may be made', answer: 'json' },
  SIEM: { what: 'what was done: every entry of the activity log', answer: 'any' },
} as const satisfies Record<string, WebhookRow>

export const INLINE_WEBHOOK_TYPES = keysOf(WEBHOOK_WORDS)
export type InlineWebhookType = keyof typeof WEBHOOK_WORDS

export const InlineWebhook = strictObject(
  'InlineWebhook',
  'A call to a system of yours, at one point',
  {
    id: v.string(),
    hook_type: v.picklist(INLINE_WEBHOOK_TYPES),
    name: v.string(),
    description: nullable(v.string()),
  },
)
export type InlineWebhook = v.InferInput<typeof InlineWebhook>

/** Longest name, in characters: it is in an index. */
export const MAX_WEBHOOK_NAME = 255
/** Longest description, in characters. */
export const MAX_DESCRIPTION = 2000
/** Longest address, in characters. */
export const MAX_URL = 2048
/** Most headers of one webhook, and the longest value of one, in characters. */
const MAX_HEADERS = 20
const MAX_VALUE = 8192

/** What every delivery has of its own. */
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
  // Not `check`: its finding would tell the value.
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
  v.metadata({ description: 'Headers by name; the values are kept sealed and never shown' }),
)

/** Changes of headers: the others stay. */
export const WebhookHeadersChange = v.pipe(
  v.record(headerName, v.nullable(headerValue)),
  v.maxEntries(MAX_HEADERS, tooMany),
  v.metadata({ description: 'Headers by name; null takes one away, and the others stay' }),
)
