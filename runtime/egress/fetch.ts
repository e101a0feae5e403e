/**
 * The host's only way to the network: every fetch of every connector, redirects included, passes it. This
 * layer knows manifests, settings and sockets. It knows nothing of isolates, frames, or the connector's use
 * of a reply.
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
import { mayBeWithdrawn } from './call/withdrawn-grant.ts'
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
import { type CallState, createCallState, governorOf, type HopDeps, hop } from './hop/hop.ts'
import { isLdapUrl, LDAP_BRIDGE } from './hop/ldap-hop.ts'
import { type OnHop, seen } from './hop/observed-hops.ts'
import { isSqlUrl, SQL_BRIDGE } from './hop/sql-hop.ts'
import { createStandIn } from './hop/stand-in.ts'
import { createDirectoryClient } from './ldap/directory-client.ts'
import { type Budgets, createBudgets } from './limits/budgets.ts'
import type { PrivateGrants } from './limits/grants.ts'
import { DEFAULT_LIMITS, type EgressLimits } from './limits/limits.ts'
import { createLogin, type Login, renewing } from './login/login.ts'
import { createTokens } from './login/tokens.ts'
import { judgeUrl, type Policy, parseUrl } from './rules/policy.ts'
import { createDatabaseClient } from './sql/database-client.ts'

const DEFAULT_CEILINGS: Ceilings = mapValues(CEILINGS, (row) => row.default)

export type EgressOptions = {
  /** From `parsePrivateGrants`. */
  privateGrants: PrivateGrants
  proxy: ProxySettings | null
  /** `keyway/<version>`, sent if a connector sets no user agent. */
  userAgent: string
  limits?: Partial<EgressLimits>
  /** The operator's ceilings for values of manifests; the defaults if absent. */
  ceilings?: Partial<Ceilings>
  /** From `parsePrivateGrants`: directories that may be used without encryption. */
  plainLdap?: PrivateGrants
  /** From `parsePrivateGrants`: databases that may be used without encryption. */
  plainSql?: PrivateGrants
  /** Name lookup for tests. If absent, the system's. */
  resolve?: ResolveName
  /**
   * Called when a request was refused because a connector, one of its tenants, or the process has too many or
   * too large requests open.
   */
  onRefused?(connectorId: string): void
  /** The test kit's replacement of the network. All steps before it are the real ones. */
  exchange?: typeof exchange
  /**
   * Called for every hop, to record test cases. Then each call is independent: no request is retried by the
   * host, and no login is shared with another call.
   */
  onHop?: OnHop
}

/** Egress of one host process. */
export type Egress = {
  open(call: EgressCall): OpenEgress
  /** Sends inline webhooks, which belong to the operator and not to a connector. */
  deliver: EgressDeliver
  /** Sends requests to providers of sign-in. */
  signIn: Pick<EgressDeliver, 'post'>
  /** Judges requests in progress by the current manifests. Fetches that are no longer allowed fail. */
  judgeAgain(): void
  /** Ends all connections. Open fetches fail. */
  close(): Promise<void>
}

/**
 * Creates the egress of one host process.
 *
 * @throws Error if a proxy variable cannot be parsed
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
  // The replacement of the network needs no pacing, and answers each request once.
  const governorFor = options.exchange ? () => UNGOVERNED : createGovernors()
  const shared = { privateGrants, limits, ...(resolve === undefined ? {} : { resolve }) }
  const ldap = createDirectoryClient({ ...shared, plainGrants: options.plainLdap ?? new Map() })
  const sql = createDatabaseClient({ ...shared, plainGrants: options.plainSql ?? new Map() })
  const deps: HopDeps = {
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
      openCall(call, options.onHop ? isolatedDeps(deps) : deps, budgets, policyOf, options.onHop),
    deliver: createDeliver(deps, budgets),
    signIn: createDeliver(deps, budgets, SIGN_IN_ID),
    judgeAgain() {
      for (const { judge, cut } of deps.underWay) {
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

/** Returns dependencies for one call, with its own logins and without retries. */
const isolatedDeps = (deps: HopDeps): HopDeps => ({
  ...deps,
  tokens: createTokens(Date.now),
  governorFor: (...who) => ({ ...deps.governorFor(...who), mayRetry: () => false }),
})

function openCall(
  call: EgressCall,
  deps: HopDeps,
  budgets: Budgets,
  policyOf: (call: EgressCall) => Policy,
  onHop?: OnHop,
): OpenEgress {
  const { maxOpenFetches, maxRedirects, maxRequestBytes } = deps.limits
  let login: Login | null = null
  const { secrets } = call
  const isBlind = secrets !== null && (secrets.secrets.length > 0 || call.manifest.exchange)
  const blind = createBlind(isBlind ? secrets : null, () => login)
  const state = createCallState(budgets(call.connectorId, call.tenant), blind)
  login = loginOf(call, deps, policyOf, { ...state, blind: blind.beforeLogin }, onHop)
  let policy: Policy | null = null
  let judged: Manifest | null = null
  let openFetches = 0
  /** Manifest at the first request of the call. */
  let begun: Manifest | null = null
  /** Reports whether a request is refused because the manifest has changed since. */
  const isRefusedNow = (error: unknown): boolean =>
    mayBeWithdrawn(error) && manifestOf(call) !== begun
  /** Returns the policy, compiled again after the operator has changed a grant. */
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
          const context = { state, deps }
          const one = within(call, scoped)
          return isLdap
            ? await bridgeHop(LDAP_BRIDGE, request, one, context, onHop)
            : await bridgeHop(SQL_BRIDGE, request, one, context, onHop)
        }
        const { errors_in_body } = call.manifest
        const ending = within(call, scoped)
        const send = (one: OutgoingRequest) => {
          const sendOnce = () => seen(hop, false, onHop)(one, ending, policyNow, { state, deps })
          if (call.once) return sendOnce()
          const again = () => startRetryWait(one, ending, policyNow, deps)
          const { endMs = Number.POSITIVE_INFINITY, signal: ends } = ending
          return withRetries(one, sendOnce, { again, endMs, signal: ends })
        }
        const sendLoggedIn = login ? renewing(send, login) : send
        const reply = await follow(request, maxRedirects, sendLoggedIn)
        const error = errorInBody(reply, errors_in_body)
        if (error) throw error
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

/** Returns the current manifest of a call, or null if it was withdrawn. */
function manifestOf(call: EgressCall): Manifest | null {
  try {
    return call.manifest
  } catch {
    return null
  }
}

/**
 * Allows a retry that can be aborted during its wait. Returns null if the upstream must not be asked again.
 */
function startRetryWait(
  { url: text, method }: OutgoingRequest,
  call: EgressCall & Scope,
  policyNow: () => Policy,
  deps: HopDeps,
): (() => void) | null {
  const url = parseUrl(text)
  if (!governorOf(url, call, deps).mayRetry()) return null
  const one = { judge: () => judgeUrl(url, method, policyNow()), cut: call.cut }
  deps.underWay.add(one)
  return () => void deps.underWay.delete(one)
}

/** A login does not count as a write of the call (`loginOf`). */
const NO_WRITE: Pick<CallState, 'wrote'> = Object.freeze({ wrote: false })

/** Signal of one request of a call, and the function that ends it. */
type Scope = Required<Pick<EgressCall, 'signal' | 'cut'>>

function scopeOf(call: EgressCall, state: Pick<CallState, 'wrote'>, signal?: AbortSignal): Scope {
  const over = new AbortController()
  const ends = signal ? [call.signal, signal, over.signal] : [call.signal, over.signal]
  return {
    signal: AbortSignal.any(ends),
    cut: (error) => over.abort(takenAway(error, state.wrote)),
  }
}

/** Returns the call as one of its requests sees it. The request may end before the call. */
const within = (call: EgressCall, scoped: Scope): EgressCall & Scope => ({
  ...call,
  ...scoped,
  get manifest() {
    return call.manifest
  },
})

/**
 * Creates the login of a call. For any capability, it may reach the URLs that the manifest's own `egress`
 * allows to a write. It does not count as a write of the call, which may run again. It is aborted when its
 * own grant is withdrawn: the request that began it may have ended by then, and others wait for it.
 */
function loginOf(
  call: EgressCall,
  deps: HopDeps,
  policyOf: (call: EgressCall) => Policy,
  state: CallState,
  onHop?: OnHop,
): Login | null {
  return createLogin(call, deps.tokens, (request) => {
    const policyNow = () => policyOf({ ...call, capability: '', level: 'write' })
    const ending = within(call, scopeOf(call, NO_WRITE))
    return follow({ ...request, redirect: 'follow' }, deps.limits.maxRedirects, (one) =>
      seen(hop, true, onHop)(one, ending, policyNow, { state, deps }),
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
  // Decoded, or a secret was replaced: the length differs from the announced one.
  const decoded =
    body.length > 0 &&
    (headerValue(reply.headers, 'content-encoding') !== null ||
      (length !== null && Number(length) !== body.length))
  const headers = replyHeaders(reply.headers, decoded)
  return { status: reply.status, url: reply.url.href, redirected, headers, body }
}
