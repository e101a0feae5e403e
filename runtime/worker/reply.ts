/**
 * Checks what a handler returned and writes the bytes that are sent: exactly the contract, nothing more. No
 * other code checks a connector's replies.
 */

import * as v from 'valibot'
import { describeIssues, parseOptionsFor } from '../contract/connector/payload.ts'
import { quietMembers } from '../contract/connector/secrets.ts'
import {
  MAX_REPLY_BYTES,
  overLimits,
  overMarks,
  type ReplyLimits,
} from '../contract/limits/reply-limits.ts'
import { LISTED_STATUSES } from '../contract/models/account.ts'
import { deeperThan, MAX_DEPTH } from '../contract/schema/depth.ts'
import { parsedJson } from '../contract/schema/json-text.ts'
import { isOneOf } from '../contract/schema/one-of.ts'
import { isObject } from '../contract/schema/record.ts'
import type { AnySchema } from '../contract/schema/shape.ts'
import type { GuestError, Reply } from '../protocol/frames.ts'
import { MAX_CURSOR_LENGTH } from '../protocol/worker-heads.ts'
import { bundlePositions } from './positions.ts'

/** Length in characters below which a response is sent as text: it is well within every limit. */
const MAX_TEXT_LENGTH = 60_000

const NOTHING: Buffer = Buffer.alloc(0)

/**
 * Message for the host: its head, and a body that holds the JSON of the response followed by that of
 * raw_data. The body is a text if it can be written to the pipe unchanged.
 */
type CheckedReply = { reply: Reply; body: Buffer | string }

/** Requirements on a reply. */
export type ReplyExpectation = {
  schema: AnySchema
  capability: string
  /** Whether the caller asked for raw_data. */
  wantRaw: boolean
  /** Whether a response that the guest's writers claim to have written is trusted to fit. */
  written: boolean
  /** Stricter limits, for replies that the host parses itself. */
  limits?: ReplyLimits | undefined
}

/**
 * Turns the result of the guest's `run` (head, response and raw data, each a JSON text) into a checked reply.
 * The guest is hostile: the head, too, may be anything.
 */
export function checkReply(parts: unknown, expected: ReplyExpectation): CheckedReply {
  const [headJson, responseJson, rawJson, ...more]: unknown[] = Array.isArray(parts) ? parts : []
  if (
    typeof headJson !== 'string' ||
    typeof responseJson !== 'string' ||
    typeof rawJson !== 'string' ||
    more.length > 0
  ) {
    return refuse('reply_invalid', 'the sandbox gave no proper reply')
  }
  // A text nested deeper than the stack allows is refused. It must not end the isolate.
  try {
    return checkParts(headJson, responseJson, rawJson, expected)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return refuse('reply_invalid', `the reply of ${expected.capability} is nested too deeply`)
  }
}

function checkParts(
  headJson: string,
  responseJson: string,
  rawJson: string,
  expected: ReplyExpectation,
): CheckedReply {
  const { schema, capability, wantRaw, written } = expected
  const head = parsedJson(headJson)
  if (!isObject(head)) return refuse('reply_invalid', 'the sandbox gave no proper reply')
  if (head['tooLarge'] === true && expected.limits !== undefined)
    return refuse('reply_too_large', tooLarge(capability, overMarks(expected.limits)))
  if (head['ok'] !== true) return { reply: failure(head), body: rawOfError(head, wantRaw) }
  if (responseJson.length + rawJson.length > MAX_REPLY_BYTES) {
    return refuse(
      'reply_too_large',
      `the reply of ${capability} has more than ${MAX_REPLY_BYTES} bytes`,
    )
  }
  const cursorJson = JSON.stringify(head['cursor'] ?? null)
  if (cursorJson.length > MAX_CURSOR_LENGTH) {
    return refuse(
      'cursor_too_large',
      `the cursor of ${capability} is longer than ${MAX_CURSOR_LENGTH} characters`,
    )
  }
  const { leftOut, table } = head
  if (written && typeof leftOut === 'number' && Number.isSafeInteger(leftOut)) {
    // Callers that set no limits do not read tables.
    const isTable = table === true && expected.limits !== undefined
    return answer(cursorJson, responseJson, rawJson, expected, { leftOut, isTable })
  }
  const result = v.safeParse(schema, parsedJson(responseJson), parseOptionsFor(responseJson.length))
  if (!result.success) {
    return refuse(
      'reply_invalid',
      `the reply of ${capability} breaks the contract: ${describeIssues(result.issues, 'response', quietMembers(schema), schema)}`,
    )
  }
  const response = capability === 'list_accounts' ? listed(result.output) : result.output
  const left = lengthOf(result.output) - lengthOf(response)
  const plain = { leftOut: left, isTable: false }
  return answer(cursorJson, JSON.stringify(response), rawJson, expected, plain)
}

/**
 * Makes the message of a reply that fits. It was written by the contract's writer in the guest, or parsed
 * here.
 */
function answer(
  cursorJson: string,
  responseJson: string,
  rawJson: string,
  { capability, wantRaw, limits }: ReplyExpectation,
  { leftOut, isTable }: { leftOut: number; isTable: boolean },
): CheckedReply {
  if (!wantRaw && limits === undefined && responseJson.length < MAX_TEXT_LENGTH) {
    const responseBytes = Buffer.byteLength(responseJson)
    const more = leftOut > 0 ? { leftOut } : {}
    return { reply: { ok: true, cursorJson, responseBytes, ...more }, body: responseJson }
  }
  const response = Buffer.from(responseJson)
  const rawValue = wantRaw ? parsedJson(rawJson) : undefined
  if (deeperThan(rawValue, MAX_DEPTH))
    return refuse('reply_invalid', `the raw data of ${capability} is nested too deeply`)
  const raw = rawValue === undefined ? NOTHING : Buffer.from(rawJson)
  if (response.length + raw.length > MAX_REPLY_BYTES) {
    return refuse(
      'reply_too_large',
      `the reply of ${capability} has more than ${MAX_REPLY_BYTES} bytes`,
    )
  }
  const body = raw.length === 0 ? response : Buffer.concat([response, raw])
  const over = limits ? overLimits(body, limits) : null
  if (over !== null) return refuse('reply_too_large', tooLarge(capability, over))
  return {
    reply: {
      ok: true,
      cursorJson,
      responseBytes: response.length,
      ...(leftOut > 0 ? { leftOut } : {}),
      ...(isTable ? { isTable } : {}),
    },
    body,
  }
}

/**
 * Returns the accounts that may be sent: only active and suspended ones, and those without a status
 * (service.md section 4.1).
 */
function listed(accounts: unknown): unknown {
  if (!Array.isArray(accounts)) return accounts
  return accounts.filter(
    ({ user_status }) => user_status === null || isOneOf(LISTED_STATUSES, user_status),
  )
}

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0)

function failure(head: Record<string, unknown>): Reply {
  const { fetch } = head
  if (typeof fetch === 'number' && Number.isSafeInteger(fetch) && fetch >= 0)
    return { ok: false, fetch }
  const error = isObject(head['error']) ? head['error'] : {}
  const { status_code: status } = error
  const guestError: GuestError = {
    code: textOr(error['code'], 'unexpected_error'),
    message: textOr(error['message'], 'the connector failed without a message').slice(0, 4000),
    app_error_code: textOr(error['app_error_code'], null),
    status_code: typeof status === 'number' && Number.isSafeInteger(status) ? status : null,
    raised_by: textOr(error['raised_by'], null),
    at: bundlePositions(error['stack']),
  }
  return { ok: false, error: guestError }
}

/**
 * Returns the last `ctx.raw` value before the error if it is an object and the caller asked for it, else
 * nothing.
 */
function rawOfError(head: Record<string, unknown>, wantRaw: boolean): Buffer {
  const error = head['error']
  const raw = isObject(error) ? error['raw'] : undefined
  const text = wantRaw && isObject(raw) ? stringify(raw) : null
  return text === null || text.length > MAX_REPLY_BYTES ? NOTHING : Buffer.from(text)
}

const tooLarge = (capability: string, why: string): string =>
  `the reply of ${capability} is too large: ${why}`

function refuse(
  refused: 'reply_invalid' | 'reply_too_large' | 'cursor_too_large',
  message: string,
) {
  return { reply: { ok: false as const, refused, message }, body: NOTHING }
}

function textOr<T>(value: unknown, otherwise: T): string | T {
  return typeof value === 'string' ? value.slice(0, 4000) : otherwise
}

/** Returns a value as JSON text, or null if it is nested so deeply that writing it overflows the stack. */
function stringify(value: unknown): string | null {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
