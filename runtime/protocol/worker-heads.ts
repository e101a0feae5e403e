/**
 * Schemas of the messages that a worker may send, checked by the host. A worker is treated as hostile,
 * because its guest may have broken out.
 */
import * as v from 'valibot'
import type { Message, MessageKind } from './frames.ts'

const id = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const shortText = v.pipe(v.string(), v.maxLength(4096))

/** Maximum length of one header value, and of all headers of a request together, in characters. */
const MAX_HEADER_LENGTH = 64 * 1024
const MAX_HEADERS_LENGTH = 256 * 1024

const Headers = v.pipe(
  v.array(v.tuple([v.string(), v.pipe(v.string(), v.maxLength(MAX_HEADER_LENGTH))])),
  v.maxLength(200),
  v.check((all) => lengthOf(all) <= MAX_HEADERS_LENGTH),
)

const lengthOf = (all: [string, string][]): number =>
  all.reduce((sum, [name, value]) => sum + name.length + value.length, 0)

const place = v.pipe(v.number(), v.safeInteger(), v.minValue(1))

/** Stands for an isolate in a ping that the worker's main thread answers. */
export const MAIN_THREAD = 0

/** Maximum length of a connector's cursor, in characters of JSON. */
export const MAX_CURSOR_LENGTH = 8192

/** Maximum number of positions of one error. */
export const MAX_POSITIONS = 10

const Positions = v.pipe(
  v.array(v.object({ line: place, column: place })),
  v.maxLength(MAX_POSITIONS),
)

const GuestErrorHead = v.object({
  code: shortText,
  message: shortText,
  app_error_code: v.nullable(shortText),
  status_code: v.nullable(v.pipe(v.number(), v.safeInteger())),
  raised_by: v.nullable(shortText),
  at: Positions,
})

/** Heads of the messages that a worker sends. Missing kinds are not sent to a host. */
export const WORKER_HEADS = {
  ready: v.object({ version: shortText }),
  reply: v.union([
    v.object({
      ok: v.literal(true),
      cursorJson: v.pipe(v.string(), v.maxLength(MAX_CURSOR_LENGTH)),
      responseBytes: id,
      leftOut: v.optional(id),
      isTable: v.optional(v.boolean()),
    }),
    v.object({ ok: v.literal(false), error: GuestErrorHead }),
    v.object({ ok: v.literal(false), fetch: id }),
    v.object({
      ok: v.literal(false),
      refused: v.picklist(['reply_invalid', 'reply_too_large', 'cursor_too_large']),
      message: v.pipe(v.string(), v.maxLength(16_384)),
    }),
  ]),
  fetch: v.object({
    request: id,
    url: v.pipe(v.string(), v.maxLength(65_536)),
    method: v.pipe(v.string(), v.maxLength(32)),
    headers: Headers,
    redirect: v.picklist(['follow', 'manual', 'error']),
    hasBody: v.boolean(),
  }),
  fetch_abort: v.object({ request: id }),
  log: v.object({
    level: v.picklist(['debug', 'info', 'warn', 'error']),
    message: v.pipe(v.string(), v.maxLength(16_384)),
    fields: v.unknown(),
  }),
  pong: v.object({ isolate: id }),
  disposed: v.object({
    isolate: id,
    reason: v.picklist(['asked', 'memory', 'load', 'failed', 'cut']),
    message: v.pipe(v.string(), v.maxLength(4096)),
    at: Positions,
  }),
  described: v.object({ capabilities: v.pipe(v.array(shortText), v.maxLength(1000)) }),
  heavy: v.object({}),
  working: v.object({ chars: id }),
  taken: v.object({ ticket: id }),
} satisfies Partial<Record<MessageKind, v.GenericSchema>>

/**
 * Reports whether a message is a successful reply, as most messages are. Makes the checks of its schema
 * without the schema.
 */
export function isUsualReply({ kind, head }: Message): boolean {
  if (kind !== 'reply' || head.ok !== true) return false
  const { cursorJson, responseBytes, leftOut, isTable } = head
  return (
    typeof cursorJson === 'string' &&
    cursorJson.length <= MAX_CURSOR_LENGTH &&
    isCount(responseBytes) &&
    (leftOut === undefined || isCount(leftOut)) &&
    (isTable === undefined || typeof isTable === 'boolean')
  )
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
