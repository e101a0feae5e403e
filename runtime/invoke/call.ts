/** Calls a capability from within the host, with plain values. The core calls connectors through it too. */
import { randomUUID } from 'node:crypto'
import type { CapabilityName } from '../contract/capabilities/capabilities.ts'
import { errorBody } from '../contract/envelope/envelope.ts'
import type { ErrorResponse } from '../contract/envelope/envelope-schemas.ts'
import { type RuntimeCode, RuntimeError } from '../contract/errors/errors.ts'
import { CORE_REPLY_LIMITS, overLimits } from '../contract/limits/reply-limits.ts'
import type { Cause } from '../contract/models/causes.ts'
import { notJson } from '../contract/schema/json-text.ts'
import { isObject } from '../contract/schema/record.ts'
import { rowsOfTable } from '../contract/schema/table.ts'
import { readTable } from '../protocol/tables.ts'
import { fittingAnswer, fittingTable, isListing } from './fitting.ts'
import type { Invoke } from './invoke.ts'
import type { CallEnd, ServedVersion } from './ports.ts'

/** `callId`: id of the call in the log and in `keyway logs`. */
type Outcome = { callId: string } & (
  | {
      ok: true
      response: unknown
      page: { token: string; size: number | null } | null
      raw: Record<string, unknown> | null
      /** Size of the reply as JSON. */
      bytes: number
    }
  | {
      ok: false
      error: ErrorResponse['error']
      /** Reason of the failure, more specific than the code of `error`. */
      reason: RuntimeCode
      /** Time to wait before the next request to the upstream system, in milliseconds. */
      retryAfterMs?: number
    }
)

/**
 * Creates the function. It does not throw for failures of a connector or its upstream system. Every result is
 * passed to `onCall` under its own request id, because one request, sync or job makes many calls.
 */
export const createCall =
  (
    invoke: Invoke,
    onCall: (end: CallEnd) => void,
    find: (id: string) => Pick<ServedVersion, 'id' | 'version'> | null = () => null,
  ) =>
  async (call: {
    connectorId: string
    capability: CapabilityName
    /** Envelope of service.md section 2.1. */
    body: Record<string, unknown>
    requestId: string
    cause: Cause
    appId: string | null
    signal: AbortSignal
    /**
     * Whether to return a response that is a list of rows as a table (contract/schema/table.ts), or which
     * columns of it.
     */
    asTable?: boolean | readonly string[]
  }): Promise<Outcome> => {
    const { body, connectorId, capability, cause, appId, signal, asTable = false } = call
    const requestId = `${call.requestId}.${randomUUID().slice(0, 8)}`
    const begun = performance.now()
    let failed: RuntimeError | null = null
    let served: string | null = null
    try {
      const text = JSON.stringify(body)
      const limits = CORE_REPLY_LIMITS
      const columns = typeof asTable === 'boolean' ? {} : { columns: asTable }
      const answer = await invoke({
        ...{ connectorId, capability, text, requestId, signal, limits },
        ...columns,
      })
      served = answer.served
      // The worker has checked this, but a guest that escaped its sandbox controls what the worker sends.
      const over = overLimits(answer.body, limits)
      if (over !== null)
        throw new RuntimeError(
          'reply_too_large',
          `the reply of ${capability} is too large: ${over}`,
        )
      const { response, page, raw_data: raw } = replyIn(answer.body)
      const table = () =>
        fittingTable(
          capability,
          answer.isTable ? { table: readTable(response, limits.maxBytes) } : { rows: response },
        )
      const value = () =>
        isListing(capability) ? rowsOfTable(table()) : fittingAnswer(capability, response)
      return {
        ...{ ok: true, response: asTable === false ? value() : table() },
        ...{ page, raw: raw ?? null, callId: requestId, bytes: answer.body.length },
      }
    } catch (error) {
      failed =
        error instanceof RuntimeError
          ? error
          : new RuntimeError('internal', 'something went wrong in Keyway itself', {}, error)
      if (failed !== error) throw error
      const { retryAfterMs } = failed.details
      const asked = retryAfterMs === undefined ? {} : { retryAfterMs }
      return {
        ok: false,
        error: errorBody(failed, connectorId).error,
        reason: failed.code,
        callId: requestId,
        ...asked,
      }
    } finally {
      const seconds = (performance.now() - begun) / 1000
      const known = failed?.code !== 'connector_unknown'
      // A later page is served by the version that started the sequence.
      const asked = served !== null || failed?.details.page !== undefined ? null : find(connectorId)
      onCall({
        connector: connectorId,
        capability,
        known,
        served: asked === null ? served : `${asked.id}@${asked.version}`,
        error: failed,
        seconds,
        requestId,
        cause,
        appId,
      })
    }
  }

/** Envelope of an answer. All members except the response are written by the host. */
type Reply = { response: unknown } & Pick<Extract<Outcome, { ok: true }>, 'page'> & {
    raw_data?: Record<string, unknown> | null
  }

/** Parses a reply. The response is as the worker sent it. @throws RuntimeError reply_invalid */
function replyIn(body: Buffer): Reply {
  let reply: Reply
  try {
    reply = JSON.parse(body.toString('utf8'))
  } catch (error) {
    // Without the cause, whose message would quote a part of the reply.
    throw new RuntimeError('reply_invalid', notJson('The reply', error))
  }
  if (isObject(reply) && Object.hasOwn(reply, 'response')) return reply
  throw new RuntimeError('reply_invalid', 'The reply holds no response')
}
