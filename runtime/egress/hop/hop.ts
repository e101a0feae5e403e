/**
 * One hop, from the start: parse, judge, secrets, headers, connect. A redirect comes here again with
 * nothing carried over but the request itself.
 */

import { normalizeId } from '../../contract/connector/manifest.ts'
import type { UpstreamRecord } from '../../contract/connector/upstream-record.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { Ceilings } from '../../contract/limits/ceilings.ts'
import type { Blind } from '../blind/blind.ts'
import type { EgressCall, HopReply } from '../call/call.ts'
import type { Dispatchers } from '../dial/dispatchers.ts'
import { type ChooseProxy, judgeProxied } from '../dial/proxy.ts'
import type { exchange, OutgoingRequest, ReplyHead } from '../exchange/exchange.ts'
import { askedWaitMs, isRefusal } from '../exchange/rate-headers.ts'
import type { Governor, RequestPace } from '../exchange/throttle.ts'
import type { LdapRoom } from '../ldap/room.ts'
import type { CallBudgets, Holding } from '../limits/budgets.ts'
import type { PrivateGrants } from '../limits/grants.ts'
import type { EgressLimits } from '../limits/limits.ts'
import type { Tokens } from '../login/tokens.ts'
import { judgeUrl, type Policy, parseUrl } from '../rules/policy.ts'
import { createRecord, isWriting } from '../rules/records.ts'
import type { SqlRoom } from '../sql/room.ts'

/** What every hop of the process shares. */
export type Door = {
  privateGrants: PrivateGrants
  userAgent: string
  limits: EgressLimits
  dispatchers: Dispatchers
  chooseProxy: ChooseProxy
  exchange: typeof exchange
  ldap: LdapRoom
  sql: SqlRoom
  /** What stands for directories and databases, in the test kit; null in earnest. */
  standIn: StandIn | null
  tokens: Tokens
  governorFor(key: string, pace: RequestPace): Governor
  ceilings: Ceilings
  /** Requests without a complete answer: those that wait for a login, for their turn, or for the reply. */
  underWay: Set<UnderWay>
}

/** A request that is aborted once the operator takes back its grant. */
type UnderWay = {
  /** @throws egress_undeclared and the like, where it may not be made any more */
  judge(): void
  cut(error: unknown): void
}

/** Answers a request of a bridge: its address with the DN or the statement as the path, and its body without. */
export type StandIn = (
  address: string,
  method: string,
  body: Uint8Array,
  signal: AbortSignal,
) => Promise<{ status: number; body: Buffer }>

/** Who paces the requests of a call to an address. */
export function governorOf({ origin }: { origin: string }, call: EgressCall, door: Door): Governor {
  const { connectorId, governorKey, manifest } = call
  const { requests_per_second, concurrent_requests } = manifest.limits
  return door.governorFor(`${normalizeId(connectorId)} ${origin} ${governorKey?.() ?? ''}`, {
    requestsPerSecond: Math.min(requests_per_second, door.ceilings.maxRequestsPerSecond),
    concurrentRequests: concurrent_requests,
  })
}

/** What the hops of one call share. */
export type CallState = {
  records: UpstreamRecord[]
  wrote: boolean
  budgets: CallBudgets
  blind: Blind['beforeLogin']
  /** The end of the queue of decodings. */
  lastDecoding: Promise<unknown>
}

/** Creates the state of a call that has fetched nothing yet. */
export const createCallState = (budgets: CallBudgets, blind: CallState['blind']): CallState => ({
  records: [],
  wrote: false,
  budgets,
  blind,
  lastDecoding: Promise.resolve(),
})

/**
 * Sends one request of a call, if it is allowed: also when its turn has come.
 *
 * @throws egress_url, egress_undeclared, egress_private, egress_secret, egress_header, egress_concurrency, upstream_*,
 * or what the signal was aborted with
 */
export async function hop(
  request: OutgoingRequest,
  call: EgressCall,
  policyNow: () => Policy,
  { state, door }: { state: CallState; door: Door },
): Promise<HopReply> {
  const { limits } = door
  const url = parseUrl(request.url)
  const record = createRecord(url, request.method.slice(0, 20), call.redact)
  if (state.records.length < limits.maxRecords) state.records.push(record)
  const held = state.budgets.holdReply()
  /** What the request grows by. */
  const secrets = state.budgets.holdRequest()
  const turn = { leave: () => {} }
  const finish = createFinish(record, [held, secrets], turn)
  try {
    const proxy = door.chooseProxy(url)
    const judge = () => judgeUrl(url, request.method, policyNow())
    const granted = { call, turn, judge, underWay: door.underWay }
    const { sent, governor } = await whileGranted(granted, async (rule) => {
      // What an earlier round held, if there was one.
      secrets.release()
      // Before its turn: a login takes turns of its own, and would wait for one that waits for it.
      const target = { ...rule, origin: url.origin }
      const sent = await state.blind.reveal(request, url, target, {
        maxHeaderBytes: limits.maxHeaderBytes,
        maxRequestBytes: limits.maxRequestBytes,
        hold: (bytes) => secrets.add(bytes),
        signal: call.signal,
      })
      if (proxy !== null) judgeProxied(door.privateGrants, call.connectorId, url)
      const { endMs = Number.POSITIVE_INFINITY, signal } = call
      // After judging: a refused request must not push other paces out of memory.
      const governor = governorOf(url, call, door)
      turn.leave = await governor.enter({ endMs, signal, from: url.host })
      return { sent, governor }
    })
    const head = await door.exchange(sent.url, sent.request, {
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
      read: (bytes) => state.budgets.read(bytes),
      inTurn(work) {
        const done = state.lastDecoding.then(work)
        state.lastDecoding = done.catch(() => {})
        return done
      },
    })
    record.status = head.status
    const asksMs = askedWaitMs(head.status, head.headers, Date.now())
    if (asksMs > 0) governor.pause(asksMs)
    if (asksMs > 0 && isRefusal(head.status, head.headers))
      record.askedUntilMs = Date.now() + asksMs
    const headers = await state.blind.headers(head.headers).catch((error: unknown) => {
      head.discard()
      throw error
    })
    const conceal = (body: Buffer) =>
      state.blind.body(body, {
        maxBytes: limits.maxReplyBytes,
        hold: (bytes) => held.add(bytes),
      })
    return { ...head, headers, url, token: sent.token, ...createEndings(head, finish, conceal) }
  } catch (error) {
    // Recorded and thrown on: a refused hop has its audit line too.
    finish(error)
    throw error
  }
}

/**
 * Prepares a request: judges it, fills in its secrets, waits for its turn. Starts again if the operator granted or took
 * back something meanwhile. Until the turn is left, the request is cut off as soon as `judge` throws; one that must be sent
 * only once is cut off only until it is sent.
 */
export async function whileGranted<J, T>(
  {
    call,
    turn,
    judge,
    underWay,
  }: {
    call: EgressCall
    turn: { leave(): void }
    judge: () => J
    underWay: Door['underWay']
  },
  prepare: (judged: J) => Promise<T>,
): Promise<T> {
  const { cut } = call
  const one = cut && { judge, cut }
  if (one) underWay.add(one)
  let isPrepared = false
  try {
    for (;;) {
      const { manifest } = call
      const prepared = await prepare(judge())
      if (call.manifest !== manifest) {
        turn.leave()
        continue
      }
      if (one && !call.once) {
        const { leave } = turn
        turn.leave = () => {
          underWay.delete(one)
          leave()
        }
        isPrepared = true
      }
      return prepared
    }
  } finally {
    if (one && !isPrepared) underWay.delete(one)
  }
}

type Finish = (error: unknown) => void

/** What ends a record: its time, its error, and what it held. */
export function createFinish(
  record: UpstreamRecord,
  held: readonly Holding[],
  turn: { leave(): void },
): Finish {
  const startedMs = performance.now()
  return (error) => {
    record.ms = Math.round(performance.now() - startedMs)
    if (error instanceof RuntimeError && error.details.retryAfterMs !== undefined)
      record.askedUntilMs = Date.now() + error.details.retryAfterMs
    if (error !== null) record.error = error instanceof RuntimeError ? error.code : 'internal'
    for (const one of held) one.release()
    turn.leave()
  }
}

/** The two ways in which a hop ends. */
function createEndings(
  head: ReplyHead,
  finish: Finish,
  conceal: (body: Buffer) => Promise<Buffer>,
): Pick<ReplyHead, 'read' | 'discard'> {
  return {
    discard() {
      head.discard()
      finish(null)
    },
    async read() {
      try {
        const body = await conceal(await head.read())
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
