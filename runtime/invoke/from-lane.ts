/** Converts a lane's reply to the caller's answer or error. */

import { hasNoCredentials } from '../contract/capabilities/capabilities.ts'
import { successBody } from '../contract/envelope/envelope.ts'
import { RuntimeError } from '../contract/errors/errors.ts'
import { INPUTS } from '../contract/limits/inputs.ts'
import { overLimits } from '../contract/limits/reply-limits.ts'
import { LISTED_STATUSES } from '../contract/models/account.ts'
import { membersOf } from '../contract/schema/record.ts'
import type { Reply } from '../protocol/frames.ts'
import type { LaneReply } from '../protocol/lane-call.ts'
import { answerError } from './answer-error.ts'
import { rawWithoutEchoes, withoutEchoes } from './echoes.ts'
import type { TokenPage } from './page-token.ts'
import type { Answer, InvokeDeps } from './ports.ts'
import { advance } from './referee.ts'
import type { ReadyCall } from './to-lane.ts'

const NOTHING: Buffer = Buffer.alloc(0)

/** The answer of a successful reply. */
export function answerOf(
  deps: Pick<InvokeDeps, 'pageTokens' | 'ceilings' | 'log'>,
  ready: ReadyCall,
  { cursorJson, responseBytes, leftOut = 0, isTable = false }: Extract<Reply, { ok: true }>,
  { body, isEnvelope }: Pick<LaneReply, 'body' | 'isEnvelope'>,
): Answer {
  const { version, capability, page, scope, call, redact } = ready
  if (leftOut > 0) logLeftOut(deps, ready, leftOut)
  const served = `${version.id}@${version.version}`
  if (isEnvelope) return { body, served, isTable }
  const next =
    cursorJson === 'null'
      ? null
      : { token: deps.pageTokens.seal(following(deps, page, cursorJson), scope), size: page.size }
  const given = call.includeRawData ? body.subarray(responseBytes) : NOTHING
  const raw = hasNoCredentials(capability) ? rawWithoutEchoes(given, redact) : given
  return { body: successBody(body.subarray(0, responseBytes), raw, next), served, isTable }
}

/** The page after a cursor. */
function following(
  { ceilings }: Pick<InvokeDeps, 'ceilings'>,
  { size, digest, course, cursorJson: asked }: TokenPage,
  cursorJson: string,
): TokenPage {
  return { cursorJson, size, digest, course: advance(course, asked, cursorJson, ceilings.maxPages) }
}

function logLeftOut(
  { log }: Pick<InvokeDeps, 'log'>,
  { version, capability, requestId }: ReadyCall,
  count: number,
): void {
  const message = `${count} ${count === 1 ? 'account' : 'accounts'} left out: only ${LISTED_STATUSES.join(' and ')} leave`
  log({ level: 'debug', message, fields: null, connector: version.id, capability, requestId })
}

/** The error of a failed reply; for a thrown error with its position in the author's source. */
export async function failureOf(
  deps: Pick<InvokeDeps, 'locate'>,
  { version, capability, call, redact }: ReadyCall,
  { reply, body, fetchError }: LaneReply,
): Promise<RuntimeError> {
  if (reply.ok) throw new Error('a reply that is good has no error')
  const failed = reply
  const at = 'error' in failed ? failed.error.at : []
  const place = at.length === 0 ? null : await deps.locate(version.digest, at)
  const raisedIn = `${version.id}:${capability}${place === null ? '' : ` (${place})`}`
  const error = answerError(failed, fetchError, raisedIn, redact)
  const raw = call.includeRawData ? rawOfError(body) : null
  if (raw)
    error.details.raw = hasNoCredentials(capability) ? membersOf(withoutEchoes(raw, redact)) : raw
  return error
}

/** Limit of an error's raw data, which the host parses, unlike a reply's. */
const MAX_ERROR_RAW = INPUTS.error_raw

function rawOfError(body: Buffer): Record<string, unknown> | null {
  if (body.length === 0 || overLimits(body, MAX_ERROR_RAW) !== null) return null
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    // Only a compromised worker sends this; the error itself still reaches the caller.
    return null
  }
}

/** Adds the full deadline and the awaited work to the message. The lane knows only the remaining time. */
export function withLimit(
  error: unknown,
  deadlineMs: number,
  waitsFor: () => string | null,
): unknown {
  if (!(error instanceof RuntimeError) || error.code !== 'deadline_passed') return error
  const open = waitsFor()
  const awaited = open === null ? '' : `; ${open}`
  return new RuntimeError(
    error.code,
    `no answer within ${deadlineMs} ms${awaited}`,
    error.details,
    error,
  )
}

/** Sets `retryAfterMs` of the error if an upstream's `Retry-After` has not passed yet. */
export function withAsked(error: unknown, askedUntilMs: number): unknown {
  const leftMs = askedUntilMs - Date.now()
  if (error instanceof RuntimeError && leftMs > 0) error.details.retryAfterMs = leftMs
  return error
}
