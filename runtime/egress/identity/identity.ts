/**
 * Sign-in by a provider (OpenID Connect Core, code flow with PKCE). The protocol is oauth4webapi's; its
 * requests go through egress like all others.
 */
import {
  AuthorizationResponseError,
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  ClientSecretBasic,
  ClientSecretPost,
  calculatePKCECodeChallenge,
  customFetch,
  discoveryRequest,
  generateRandomCodeVerifier,
  generateRandomNonce,
  generateRandomState,
  getValidatedIdTokenClaims,
  KEY_SELECTION,
  None,
  OperationProcessingError,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  processUserInfoResponse,
  userInfoRequest,
  validateApplicationLevelSignature,
  validateAuthResponse,
} from 'oauth4webapi'
import type {
  Claims,
  KnownProvider,
  NotSignedIn,
  ProviderSignIn,
  SignInState,
} from '../../contract/models/sign-in-provider.ts'

/** How long a provider's metadata is cached, in milliseconds. */
const METADATA_MS = 10 * 60 * 1000
/**
 * Timeouts in milliseconds: of one request to a provider, and of one callback's requests together, metadata
 * included. A person waits.
 */
const TIMEOUTS = { askMs: 10_000, wholeMs: 20_000 } as const
/** How long a provider is not asked again after its metadata could not be read, in milliseconds. */
const FAILED_MS = 5000

/** Sends a request to a provider, through egress. */
type Ask = (request: {
  method: 'GET' | 'POST'
  url: string
  headers: Readonly<Record<string, string>>
  body: string
  signal: AbortSignal
}) => Promise<
  | { ok: true; status: number; headers: [string, string][]; body: Buffer }
  | { ok: false; problem: string }
>

/** The reason why a person is not signed in. */
class Refused extends Error {
  readonly why: NotSignedIn['why']
  constructor(why: NotSignedIn['why'], message: string) {
    super(message)
    this.why = why
  }
}

type Known = { server: AuthorizationServer; readMs: number }
type Reading = { known: Promise<Known>; failedMs: number | null }

/** Creates the client of the providers. `ask` sends its requests. */
export function createIdentity(
  ask: Ask,
  { askMs, wholeMs }: Readonly<Record<keyof typeof TIMEOUTS, number>> = TIMEOUTS,
): ProviderSignIn {
  /** Metadata by provider. Bounded by the number of providers in the settings. */
  const servers = new Map<string, Known>()
  const readings = new Map<string, Reading>()

  const requestOptions = ({ issuer }: KnownProvider, deadline?: AbortSignal) => ({
    [allowInsecureRequests]: issuer.startsWith('http:'),
    [customFetch]: fetchBy(ask),
    signal: () => AbortSignal.any([AbortSignal.timeout(askMs), ...(deadline ? [deadline] : [])]),
  })

  /**
   * Returns a provider's metadata. Concurrent callers share one request: a provider that hangs occupies one
   * connection, and sign-in by another provider is not delayed.
   */
  async function serverOf(provider: KnownProvider): Promise<Known> {
    const known = servers.get(provider.id)
    if (known && Date.now() - known.readMs < METADATA_MS) return known
    const before = readings.get(provider.id)
    if (before && Date.now() - (before.failedMs ?? Number.POSITIVE_INFINITY) < FAILED_MS)
      return before.known
    const reading: Reading = { known: readServer(provider), failedMs: null }
    readings.set(provider.id, reading)
    try {
      return await reading.known
    } catch (error) {
      reading.failedMs = Date.now()
      throw error
    } finally {
      if (reading.failedMs === null) readings.delete(provider.id)
    }
  }

  async function readServer(provider: KnownProvider): Promise<Known> {
    const issuer = new URL(provider.issuer)
    const reply = await discoveryRequest(issuer, { ...requestOptions(provider), algorithm: 'oidc' })
    const server = await processDiscoveryResponse(issuer, reply)
    const read = { server, readMs: Date.now() }
    servers.set(provider.id, read)
    return read
  }

  async function claimsOf(
    provider: KnownProvider,
    {
      params,
      redirectUri,
      state,
      nonce,
      verifier,
    }: SignInState & { params: URLSearchParams; redirectUri: string },
  ): Promise<Claims> {
    // The metadata has its own timeout, which is shorter: its request may be shared with other people.
    const deadline = AbortSignal.timeout(wholeMs)
    const known = await serverOf(provider)
    const { server } = known
    const client = { client_id: provider.client_id }
    const checked = validateAuthResponse(server, client, params, state)
    const auth = authOf(provider, server)
    const reply = await authorizationCodeGrantRequest(
      ...([
        server,
        client,
        auth,
        checked,
        redirectUri,
        verifier,
        requestOptions(provider, deadline),
      ] as const),
    )
    const tokens = await processAuthorizationCodeResponse(server, client, reply, {
      expectedNonce: nonce,
      requireIdToken: true,
    })
    await signed(known, reply, requestOptions(provider, deadline))
    const claims = getValidatedIdTokenClaims(tokens)
    if (!claims) throw new Refused('wrong', 'the provider sent no ID token')
    if (server.userinfo_endpoint === undefined) return claims
    const info = await userInfoRequest(
      server,
      client,
      tokens.access_token,
      requestOptions(provider, deadline),
    )
    return { ...(await processUserInfoResponse(server, client, claims.sub, info)), ...claims }
  }

  /** Verifies the signature. If its key is unknown, keys are read again, because it may be new. */
  async function signed(
    known: Known,
    reply: Response,
    options: ReturnType<typeof requestOptions>,
  ): Promise<void> {
    const verify = () => validateApplicationLevelSignature(known.server, reply, options)
    try {
      await verify()
    } catch (error) {
      if (!(error instanceof OperationProcessingError && error.code === KEY_SELECTION)) throw error
      // The library caches keys by the server object, and reads new ones when they are a minute old.
      known.server = { ...known.server }
      await verify()
    }
  }

  async function begun(
    provider: KnownProvider,
    redirectUri: string,
  ): Promise<SignInState & { url: string }> {
    const { server } = await serverOf(provider)
    const address = server.authorization_endpoint
    if (address === undefined)
      throw new Refused('wrong', 'the provider names no authorization_endpoint')
    const made = {
      state: generateRandomState(),
      nonce: generateRandomNonce(),
      verifier: generateRandomCodeVerifier(),
    }
    const url = new URL(address)
    const query = {
      ...{ client_id: provider.client_id, redirect_uri: redirectUri, response_type: 'code' },
      ...{ scope: provider.scopes.join(' '), state: made.state, nonce: made.nonce },
      code_challenge: await calculatePKCECodeChallenge(made.verifier),
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    return { ...made, url: url.href }
  }

  async function endOf(provider: KnownProvider, backTo: string): Promise<string | null> {
    const { server } = await serverOf(provider)
    if (server.end_session_endpoint === undefined) return null
    const url = new URL(server.end_session_endpoint)
    url.searchParams.set('client_id', provider.client_id)
    url.searchParams.set('post_logout_redirect_uri', backTo)
    return url.href
  }

  return {
    begin: (provider, redirectUri) => told(begun(provider, redirectUri)),
    finish: (provider, answer) => told(claimsOf(provider, answer)),
    end: (provider, backTo) => told(endOf(provider, backTo)),
  }
}

/** Converts the outcome to a result. A failure of another system is an answer, not an error of Keyway. */
async function told<T>(work: Promise<T>) {
  try {
    return { ok: true as const, value: await work }
  } catch (error) {
    if (error instanceof Refused)
      return { ok: false as const, why: error.why, problem: error.message }
    if (error instanceof AuthorizationResponseError)
      return {
        ok: false as const,
        why: 'denied' as const,
        problem: `the provider said ${error.error}`,
      }
    // The library's own errors name the invalid part of an answer, and repeat none of it.
    const problem = error instanceof Error ? error.message : 'unknown'
    return { ok: false as const, why: 'wrong' as const, problem }
  }
}

/**
 * Returns the client's authentication: one of the usual methods, as the provider supports it. A client
 * without a secret is public.
 */
function authOf({ secret }: KnownProvider, server: AuthorizationServer) {
  if (secret === null) return None()
  const offered = server.token_endpoint_auth_methods_supported
  return offered && !offered.includes('client_secret_basic')
    ? ClientSecretPost(secret)
    : ClientSecretBasic(secret)
}

/** The library's `fetch`, through egress. */
const fetchBy =
  (ask: Ask) =>
  async (
    url: string,
    {
      method,
      headers,
      body,
      signal,
    }: {
      method: string
      headers: Record<string, string>
      body?: URLSearchParams | null | undefined
      signal?: AbortSignal | undefined
    },
  ): Promise<Response> => {
    const reply = await ask({
      ...{ url, headers, body: body?.toString() ?? '' },
      method: method === 'POST' ? 'POST' : 'GET',
      signal: signal ?? AbortSignal.timeout(TIMEOUTS.askMs),
    })
    if (!reply.ok) throw new Refused('away', reply.problem)
    if (reply.status >= 500) throw new Refused('away', `the provider answered ${reply.status}`)
    const none = reply.status === 204 || reply.status === 304
    return new Response(none ? null : new Uint8Array(reply.body), {
      status: reply.status,
      headers: reply.headers,
    })
  }
