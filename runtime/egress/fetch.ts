/**
 * The host's one door to the network: every fetch of every connector, redirects included, passes it.
 * This layer knows manifests, settings and sockets; it knows nothing of isolates, frames, or what a
 * connector does with a reply.
 */
import { RuntimeError } from '../contract/errors.ts'
import { type Budgets, createBudgets } from './budgets.ts'
import type { EgressCall, EgressReply, EgressRequest, OpenEgress } from './call.ts'
import { createPolicyOf } from './call-policy.ts'
import { createDispatchers } from './dispatchers.ts'
import type { OutgoingRequest } from './exchange.ts'
import type { PrivateGrants } from './grants.ts'
import { headerValue, replyHeaders } from './headers.ts'
import { createCallState, type Door, type HopReply, hop } from './hop.ts'
import { DEFAULT_LIMITS, type EgressLimits } from './limits.ts'
import type { Resolve } from './lookups.ts'
import type { Policy } from './policy.ts'
import { createChooseProxy, type ProxySettings } from './proxy.ts'
import { nextRequest, redirectTarget } from './redirects.ts'

export type EgressOptions = {
  /** From `parsePrivateGrants`. */
  privateGrants: PrivateGrants
  proxy: ProxySettings | null
  /** `keyway/<version>`: sent where a connector sets none. */
  userAgent: string
  limits?: Partial<EgressLimits>
  /** For tests; the system's lookup otherwise. */
  resolve?: Resolve
}

/** The door of one host process. */
export type Egress = {
  open(call: EgressCall): OpenEgress
  /** Ends all connections; open fetches fail. */
  close(): Promise<void>
}

/**
 * Creates the door of one host process.
 *
 * @throws Error if a proxy variable cannot be read
 */
export function createEgress(options: EgressOptions): Egress {
  const { privateGrants, userAgent, resolve } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const dispatchers = createDispatchers({
    grants: privateGrants,
    limits,
    ...(resolve === undefined ? {} : { resolve }),
  })
  const chooseProxy = createChooseProxy(options.proxy)
  const door = { privateGrants, userAgent, limits, dispatchers, chooseProxy }
  const policyOf = createPolicyOf()
  const budgets = createBudgets(limits)
  return {
    open: (call) => openCall(call, policyOf, budgets, door),
    close: () => dispatchers.close(),
  }
}

function openCall(
  call: EgressCall,
  policyOf: (call: EgressCall) => Policy,
  budgets: Budgets,
  door: Door,
): OpenEgress {
  const { maxOpenFetches, maxRedirects, maxRequestBytes } = door.limits
  const state = createCallState(budgets(call.connectorId))
  let policy: Policy | null = null
  let openFetches = 0
  return {
    records: state.records,
    hasWritten: () => state.wrote,
    async fetch({ signal, ...request }) {
      if (openFetches >= maxOpenFetches)
        throw new RuntimeError(
          'egress_concurrency',
          `The call has ${openFetches} requests open already: await some before sending more`,
        )
      const bytes = request.body?.byteLength ?? 0
      if (bytes > maxRequestBytes)
        throw new RuntimeError('egress_body', `The request body is over ${maxRequestBytes} bytes`)
      const slot = state.budgets.holdSlot()
      const held = state.budgets.holdRequest()
      openFetches += 1
      try {
        held.add(bytes)
        policy ??= policyOf(call)
        const current = policy
        const within = signal ? { ...call, signal: AbortSignal.any([call.signal, signal]) } : call
        return await follow(request, maxRedirects, (one) =>
          hop(one, within, current, { state, door }),
        )
      } finally {
        openFetches -= 1
        held.release()
        slot.release()
      }
    },
  }
}

async function follow(
  { redirect, ...first }: Omit<EgressRequest, 'signal'>,
  maxRedirects: number,
  send: (request: OutgoingRequest) => Promise<HopReply>,
): Promise<EgressReply> {
  let request: OutgoingRequest = { ...first, method: first.method.toUpperCase() }
  for (let redirects = 0; ; redirects += 1) {
    const reply = await send(request)
    const location = redirectTarget(reply.status, reply.headers)
    if (location === null || redirect === 'manual') return finishReply(reply, redirects > 0)
    reply.discard()
    if (redirect === 'error' || redirects === maxRedirects)
      throw new RuntimeError(
        'egress_redirects',
        redirect === 'error'
          ? `${reply.url.host} redirects (${reply.status}), and the request asked for an error then`
          : `${reply.url.host} redirects (${reply.status}) after ${maxRedirects} redirects already`,
      )
    request = nextRequest(request, reply.url, reply.status, location)
  }
}

async function finishReply(reply: HopReply, redirected: boolean): Promise<EgressReply> {
  const body = await reply.read()
  const decoded = body.length > 0 && headerValue(reply.headers, 'content-encoding') !== null
  const headers = replyHeaders(reply.headers, decoded)
  return { status: reply.status, url: reply.url.href, redirected, headers, body }
}
