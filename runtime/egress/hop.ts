/**
 * One hop, from the start: parse, judge, secrets, headers, connect. A redirect comes here again with
 * nothing carried over but the request itself.
 */
import { RuntimeError } from '../contract/errors.ts'
import type { CallBudgets, Holding } from './budgets.ts'
import type { EgressCall } from './call.ts'
import type { Dispatchers } from './dispatchers.ts'
import { exchange, type OutgoingRequest, type ReplyHead } from './exchange.ts'
import type { PrivateGrants } from './grants.ts'
import type { EgressLimits } from './limits.ts'
import { judge, type Policy, parseUrl } from './policy.ts'
import { type ChooseProxy, judgeProxied } from './proxy.ts'
import { createRecord, type EgressRecord, isWriting } from './records.ts'
import { substitute } from './secrets.ts'

/** What every hop of the process shares. */
export type Door = {
  privateGrants: PrivateGrants
  userAgent: string
  limits: EgressLimits
  dispatchers: Dispatchers
  chooseProxy: ChooseProxy
}

/** What the hops of one call share. */
export type CallState = {
  records: EgressRecord[]
  wrote: boolean
  budgets: CallBudgets
  /** The end of the queue of decodings. */
  lastDecoding: Promise<unknown>
}

/** Creates the state of a call that has fetched nothing yet. */
export const createCallState = (budgets: CallBudgets): CallState => ({
  records: [],
  wrote: false,
  budgets,
  lastDecoding: Promise.resolve(),
})

/** One hop's reply: `read` or `discard` ends it and completes its record. */
export type HopReply = ReplyHead & { url: URL }

/**
 * Sends one request of a call, if it is allowed.
 *
 * @throws egress_url, egress_undeclared, egress_private, egress_header, egress_concurrency, upstream_*,
 * or what the signal was aborted with
 */
export async function hop(
  request: OutgoingRequest,
  call: EgressCall,
  policy: Policy,
  { state, door }: { state: CallState; door: Door },
): Promise<HopReply> {
  const { limits } = door
  const url = parseUrl(request.url)
  const record = createRecord(url, request.method.slice(0, 20), call.redact)
  if (state.records.length < limits.maxRecords) state.records.push(record)
  const held = state.budgets.holdReply()
  const finish = createFinish(record, held)
  try {
    const rule = judge(url, request.method, policy)
    const revealed = substitute(request, { origin: url.origin, only: rule.secrets }, call.secrets)
    const proxy = door.chooseProxy(url)
    if (proxy !== null) judgeProxied(url, call.connectorId, door.privateGrants)
    const head = await exchange(url, revealed, {
      dispatcher: door.dispatchers.get(call.connectorId, proxy),
      proxied: proxy !== null,
      limits,
      userAgent: door.userAgent,
      signal: call.signal,
      onSend(bytes) {
        record.sent = true
        record.sentBytes = bytes
        state.wrote ||= isWriting(request.method)
      },
      onBytes(bytes) {
        record.receivedBytes += bytes
        held.add(bytes)
      },
      onDecoded: (bytes) => held.add(bytes),
      inTurn(work) {
        const turn = state.lastDecoding.then(work)
        state.lastDecoding = turn.catch(() => {})
        return turn
      },
    })
    record.status = head.status
    return { ...head, url, ...createEndings(head, finish) }
  } catch (error) {
    // Recorded and thrown on: a refused hop has its audit line too.
    finish(error)
    throw error
  }
}

type Finish = (error: unknown) => void

function createFinish(record: EgressRecord, held: Holding): Finish {
  const startedMs = performance.now()
  return (error) => {
    record.ms = Math.round(performance.now() - startedMs)
    if (error !== null) record.error = error instanceof RuntimeError ? error.code : 'internal'
    held.release()
  }
}

/** The two ways in which a hop ends. */
function createEndings(head: ReplyHead, finish: Finish): Pick<ReplyHead, 'read' | 'discard'> {
  return {
    discard() {
      head.discard()
      finish(null)
    },
    async read() {
      try {
        const body = await head.read()
        finish(null)
        return body
      } catch (error) {
        // As in `hop`: recorded and thrown on.
        finish(error)
        throw error
      }
    },
  }
}
