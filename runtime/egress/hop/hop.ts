/**
 * One hop, from the start: parse, judge, fill in secrets, set headers, connect. A redirect starts here again
 * and keeps nothing but the request.
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
import type { DirectoryClient } from '../ldap/directory-client.ts'
import type { CallBudgets, Holding } from '../limits/budgets.ts'
import type { PrivateGrants } from '../limits/grants.ts'
import type { EgressLimits } from '../limits/limits.ts'
import type { Tokens } from '../login/tokens.ts'
import { judgeUrl, type Policy, parseUrl } from '../rules/policy.ts'
import { createRecord, isWriting } from '../rules/records.ts'
import type { DatabaseClient } from '../sql/database-client.ts'

/** State shared by all hops of the process. */
export type HopDeps = {
  privateGrants: PrivateGrants
  userAgent: string
  limits: EgressLimits
  dispatchers: Dispatchers
  chooseProxy: ChooseProxy
  exchange: typeof exchange
  ldap: DirectoryClient
  sql: DatabaseClient
  /** Replacement of directories and databases in the test kit, else null. */
  standIn: StandIn | null
  tokens: Tokens
  governorFor(key: string, pace: RequestPace): Governor
  ceilings: Ceilings
  /** Requests without a complete answer: those that wait for a login, for a turn, or for the reply. */
  underWay: Set<UnderWay>
}

/** Request that is aborted when the operator withdraws its grant. */
type UnderWay = {
  /** @throws egress_undeclared or a similar error if the request is no longer allowed */
  judge(): void
  cut(error: unknown): void
}

/**
 * Answers a request of a bridge. Its URL has the DN or the statement as the path, its body does not contain
 * it.
 */
export type StandIn = (
  address: string,
  method: string,
  body: Uint8Array,
  signal: AbortSignal,
) => Promise<{ status: number; body: Buffer }>

/** Returns the governor that paces a call's requests to an origin. */
export function governorOf(
  { origin }: { origin: string },
  call: EgressCall,
  deps: HopDeps,
): Governor {
  const { connectorId, governorKey, manifest } = call
  const { requests_per_second, concurrent_requests } = manifest.limits
  return deps.governorFor(`${normalizeId(connectorId)} ${origin} ${governorKey?.() ?? ''}`, {
    requestsPerSecond: Math.min(requests_per_second, deps.ceilings.maxRequestsPerSecond),
    concurrentRequests: concurrent_requests,
  })
}

/** State shared by the hops of one call. */
export type CallState = {
  records: UpstreamRecord[]
  wrote: boolean
  budgets: CallBudgets
  blind: Blind['beforeLogin']
  /** Last decoding in the queue. */
  lastDecoding: Promise<unknown>
}

/** Creates the state of a call that has sent no requests yet. */
export const createCallState = (budgets: CallBudgets, blind: CallState['blind']): CallState => ({
  records: [],
  wrote: false,
  budgets,
  blind,
  lastDecoding: Promise.resolve(),
})

/**
 * Sends one request of a call, if it is allowed, both now and when its turn has come.
 *
 * @throws egress_url, egress_undeclared, egress_private, egress_secret, egress_header, egress_concurrency,
 * upstream_*, or the reason of the signal
 */
export async function hop(
  request: OutgoingRequest,
  call: EgressCall,
  policyNow: () => Policy,
  { state, deps }: { state: CallState; deps: HopDeps },
): Promise<HopReply> {
  const { limits } = deps
  const url = parseUrl(request.url)
  const record = createRecord(url, request.method.slice(0, 20), call.redact)
  if (state.records.length < limits.maxRecords) state.records.push(record)
  const held = state.budgets.holdReply()
  /** Bytes that secrets add to the request. */
  const secrets = state.budgets.holdRequest()
  const turn = { leave: () => {} }
  const finish = createFinish(record, [held, secrets], turn)
  try {
    const proxy = deps.chooseProxy(url)
    const judge = () => judgeUrl(url, request.method, policyNow())
    const granted = { call, turn, judge, underWay: deps.underWay }
    const { sent, governor } = await whileGranted(granted, async (rule) => {
      // Amount held by an earlier round, if there was one.
      secrets.release()
      // Before waiting for a turn: a login needs turns too, and could wait for a request that waits for it.
      const target = { ...rule, origin: url.origin }
      const sent = await state.blind.reveal(request, url, target, {
        maxHeaderBytes: limits.maxHeaderBytes,
        maxRequestBytes: limits.maxRequestBytes,
        hold: (bytes) => secrets.add(bytes),
        signal: call.signal,
      })
      if (proxy !== null) judgeProxied(deps.privateGrants, call.connectorId, url)
      const { endMs = Number.POSITIVE_INFINITY, signal } = call
      // After judging: a refused request must not evict the state of other governors.
      const governor = governorOf(url, call, deps)
      turn.leave = await governor.enter({ endMs, signal, from: url.host })
      return { sent, governor }
    })
    const head = await deps.exchange(sent.url, sent.request, {
      dispatcher: deps.dispatchers.get(call.connectorId, proxy),
      proxied: proxy !== null,
      limits,
      userAgent: deps.userAgent,
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
    // Recorded and rethrown: a refused hop has its audit line too.
    finish(error)
    throw error
  }
}

/**
 * Prepares a request: judges it, fills in its secrets, waits for its turn. Starts again if the operator
 * changed a grant in the meantime. Until the turn ends, the request is aborted as soon as `judge`
 * throws. A request that must be sent only once is aborted only until it is sent.
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
    underWay: HopDeps['underWay']
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

/** Returns the function that ends a record: sets its duration and error, and releases budgets and turn. */
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

/** Creates the two functions that end a hop. */
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
        // Recorded and rethrown, as in `hop`.
        finish(error)
        throw error
      }
    },
  }
}
