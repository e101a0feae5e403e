/**
 * The host's one door to the network: every fetch of every connector, redirects included, passes it.
 * This layer knows manifests, settings and sockets; it knows nothing of isolates, frames, or what a
 * connector does with a reply.
 */

import type { Manifest } from '../contract/connector/manifest.ts'
import { SIGN_IN_ID } from '../contract/connector/manifest.ts'
import { RuntimeError } from '../contract/errors/errors.ts'
import { takenAway } from '../contract/errors/taken-away.ts'
import { CEILINGS, type Ceilings } from '../contract/limits/ceilings.ts'
import { mapValues } from '../contract/schema/keys.ts'
import { createBlind } from './blind/blind.ts'
import { errorInBody } from './call/body-errors.ts'
import type { EgressCall, EgressReply, EgressRequest, HopReply, OpenEgress } from './call/call.ts'
import { createPolicyOf } from './call/call-policy.ts'
import { isTakenBack } from './call/taken.ts'
import { createDeliver, type EgressDeliver } from './deliver.ts'
import { createDispatchers } from './dial/dispatchers.ts'
import type { ResolveName } from './dial/lookups.ts'
import { createChooseProxy, type ProxySettings } from './dial/proxy.ts'
import { exchange, type OutgoingRequest } from './exchange/exchange.ts'
import { headerValue, replyHeaders } from './exchange/headers.ts'
import { nextRequest, redirectTarget } from './exchange/redirects.ts'
import { withRetries } from './exchange/retries.ts'
import { createGovernors, UNGOVERNED } from './exchange/throttle.ts'
import { bridgeHop } from './hop/bridge-hop.ts'
import { type CallState, createCallState, type Door, governorOf, hop } from './hop/hop.ts'
import { isLdapUrl, LDAP_BRIDGE } from './hop/ldap-hop.ts'
import { type OnHop, seen } from './hop/seen.ts'
import { isSqlUrl, SQL_BRIDGE } from './hop/sql-hop.ts'
import { createStandIn } from './hop/stand-in.ts'
import { createLdapRoom } from './ldap/room.ts'
import { type Budgets, createBudgets } from './limits/budgets.ts'
import type { PrivateGrants } from './limits/grants.ts'
import { DEFAULT_LIMITS, type EgressLimits } from './limits/limits.ts'
import { createLogin, type Login, renewing } from './login/login.ts'
import { createTokens } from './login/tokens.ts'
import { judgeUrl, type Policy, parseUrl } from './rules/policy.ts'
import { createSqlRoom } from './sql/room.ts'

const DEFAULT_CEILINGS: Ceilings = mapValues(CEILINGS, (row) => row.default)

export type EgressOptions = {
  /** From `parsePrivateGrants`. */
  privateGrants: PrivateGrants
  proxy: ProxySettings | null
  /** `keyway/<version>`: sent where a connector sets none. */
  userAgent: string
  limits?: Partial<EgressLimits>
  /** The operator's ceilings of what connectors wish for; their defaults where none are given. */
  ceilings?: Partial<Ceilings>
  /** From `parsePrivateGrants`: directories that may be spoken to without encryption. */
  plainLdap?: PrivateGrants
  /** The same for databases. */
  plainSql?: PrivateGrants
  /** For tests; the system's lookup otherwise. */
  resolve?: ResolveName
  /** A request was not made because a connector, a tenant of it, or all have too many or too large ones open. */
  onRefused?(connectorId: string): void
  /** What stands for the network, in the test kit: everything before it is as in earnest. */
  exchange?: typeof exchange
  /**
   * Sees every hop, for what records cases. Then each call is whole: nothing is tried twice by itself, and no
   * login is taken over from another call.
   */
  onHop?: OnHop
}

/** The door of one host process. */
export type Egress = {
  open(call: EgressCall): OpenEgress
  /** For what is the operator's own and no connector's: inline webhooks. */
  deliver: EgressDeliver
  /** The same for providers of sign-in. */
  signIn: Pick<EgressDeliver, 'post'>
  /** Judges what is under way by the manifests as they are now: fetches that may not be made any more fail. */
  judgeAgain(): void
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
  // What stands for the network is not to be spared, and answers each request once.
  const governorFor = options.exchange ? () => UNGOVERNED : createGovernors()
  const shared = { privateGrants, limits, ...(resolve === undefined ? {} : { resolve }) }
  const ldap = createLdapRoom({ ...shared, plainGrants: options.plainLdap ?? new Map() })
  const sql = createSqlRoom({ ...shared, plainGrants: options.plainSql ?? new Map() })
  const door: Door = {
    privateGrants,
    userAgent,
    limits,
    dispatchers,
    chooseProxy,
    exchange: options.exchange ?? exchange,
    ldap,
    sql,
    standIn: options.exchange
      ? createStandIn(options.exchange, {
          dispatcher: dispatchers.get('', null),
          limits,
          userAgent,
        })
      : null,
    tokens: createTokens(Date.now),
    governorFor,
    ceilings: { ...DEFAULT_CEILINGS, ...options.ceilings },
    underWay: new Set(),
  }
  const policyOf = createPolicyOf()
  const budgets = createBudgets(limits, options.onRefused)
  return {
    open: (call) =>
      openCall(call, options.onHop ? alone(door) : door, budgets, policyOf, options.onHop),
    deliver: createDeliver(door, budgets),
    signIn: createDeliver(door, budgets, SIGN_IN_ID),
    judgeAgain() {
      for (const { judge, cut } of door.underWay) {
        try {
          judge()
        } catch (error) {
          cut(error)
        }
      }
    },
    async close() {
      ldap.close()
      sql.close()
      await dispatchers.close()
    },
  }
}

/** A door for one call: its own logins, and each request once. */
const alone = (door: Door): Door => ({
  ...door,
  tokens: createTokens(Date.now),
  governorFor: (...who) => ({ ...door.governorFor(...who), mayRetry: () => false }),
})

function openCall(
  call: EgressCall,
  door: Door,
  budgets: Budgets,
  policyOf: (call: EgressCall) => Policy,
  onHop?: OnHop,
): OpenEgress {
  const { maxOpenFetches, maxRedirects, maxRequestBytes } = door.limits
  let login: Login | null = null
  const { secrets } = call
  const isBlind = secrets !== null && (secrets.secrets.length > 0 || call.manifest.exchange)
  const blind = createBlind(isBlind ? secrets : null, () => login)
  const state = createCallState(budgets(call.connectorId, call.tenant), blind)
  login = loginOf(call, door, policyOf, { ...state, blind: blind.beforeLogin }, onHop)
  let policy: Policy | null = null
  let judged: Manifest | null = null
  let openFetches = 0
  /** As the operator had it at the first request of the call. */
  let begun: Manifest | null = null
  /** Whether a request is refused that may not have been before. */
  const isRefusedNow = (error: unknown): boolean => isTakenBack(error) && manifestOf(call) !== begun
  /** Of another manifest than before: the operator has granted or taken back something. */
  const policyNow = (): Policy => {
    const { manifest } = call
    if (policy === null || judged !== manifest) policy = policyOf(call)
    judged = manifest
    return policy
  }
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
        begun ??= call.manifest
        held.add(bytes)
        const scoped = scopeOf(call, state, signal)
        const isLdap = isLdapUrl(request.url)
        if (isLdap || isSqlUrl(request.url)) {
          const means = { state, door }
          const one = within(call, scoped)
          return isLdap
            ? await bridgeHop(LDAP_BRIDGE, request, one, means, onHop)
            : await bridgeHop(SQL_BRIDGE, request, one, means, onHop)
        }
        const { errors_in_body } = call.manifest
        const ending = within(call, scoped)
        const send = (one: OutgoingRequest) => {
          const once = () => seen(hop, false, onHop)(one, ending, policyNow, { state, door })
          if (call.once) return once()
          const again = () => waitAgain(one, ending, policyNow, door)
          const { endMs = Number.POSITIVE_INFINITY, signal: ends } = ending
          return withRetries(one, once, { again, endMs, signal: ends })
        }
        const sends = login ? renewing(send, login) : send
        const reply = await follow(request, maxRedirects, sends)
        const said = errorInBody(reply, errors_in_body)
        if (said) throw said
        return reply
      } catch (error) {
        throw takenAway(error, state.wrote && isRefusedNow(error))
      } finally {
        openFetches -= 1
        held.release()
        slot.release()
      }
    },
  }
}

/** The manifest of a call as it is now; null where it is taken away. */
function manifestOf(call: EgressCall): Manifest | null {
  try {
    return call.manifest
  } catch {
    return null
  }
}

/** Allows a retry, and lets it be cut off during the wait; null if the upstream must be spared. */
function waitAgain(
  { url: text, method }: OutgoingRequest,
  call: EgressCall & Scope,
  policyNow: () => Policy,
  door: Door,
): (() => void) | null {
  const url = parseUrl(text)
  if (!governorOf(url, call, door).mayRetry()) return null
  const one = { judge: () => judgeUrl(url, method, policyNow()), cut: call.cut }
  door.underWay.add(one)
  return () => void door.underWay.delete(one)
}

/** A login changes nothing in the system (`loginOf`). */
const NO_WRITE: Pick<CallState, 'wrote'> = Object.freeze({ wrote: false })

/** What ends one request of a call. */
type Scope = Required<Pick<EgressCall, 'signal' | 'cut'>>

function scopeOf(call: EgressCall, state: Pick<CallState, 'wrote'>, signal?: AbortSignal): Scope {
  const over = new AbortController()
  const ends = signal ? [call.signal, signal, over.signal] : [call.signal, over.signal]
  return {
    signal: AbortSignal.any(ends),
    cut: (error) => over.abort(takenAway(error, state.wrote)),
  }
}

/** The call as one of its requests sees it, which may end before it. */
const within = (call: EgressCall, scoped: Scope): EgressCall & Scope => ({
  ...call,
  ...scoped,
  get manifest() {
    return call.manifest
  },
})

/**
 * The login of a call. It may reach what the manifest's own `egress` lets a write reach, whatever the
 * capability; it does not count as a write of the call, which may run again. It is cut off by itself once what it may
 * reach is taken back: the request that began it may have ended by then, and others wait for it.
 */
function loginOf(
  call: EgressCall,
  door: Door,
  policyOf: (call: EgressCall) => Policy,
  state: CallState,
  onHop?: OnHop,
): Login | null {
  return createLogin(call, door.tokens, (request) => {
    const policyNow = () => policyOf({ ...call, capability: '', level: 'write' })
    const ending = within(call, scopeOf(call, NO_WRITE))
    return follow({ ...request, redirect: 'follow' }, door.limits.maxRedirects, (one) =>
      seen(hop, true, onHop)(one, ending, policyNow, { state, door }),
    )
  })
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
  const length = headerValue(reply.headers, 'content-length')
  // Of another length than was announced: decoded, or a secret of it was taken out.
  const decoded =
    body.length > 0 &&
    (headerValue(reply.headers, 'content-encoding') !== null ||
      (length !== null && Number(length) !== body.length))
  const headers = replyHeaders(reply.headers, decoded)
  return { status: reply.status, url: reply.url.href, redirected, headers, body }
}
