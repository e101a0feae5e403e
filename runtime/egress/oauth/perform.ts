/**
 * The OAuth capabilities, performed by the host from a connector's declaration: connector-interface.md
 * section 3.2. Secrets of these calls never reach a sandbox. Nothing is kept between calls except answers to
 * refreshes, for a moment.
 */

import { createHash } from 'node:crypto'
import {
  AuthorizationResponseError,
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type ClientAuth,
  ClientSecretPost,
  clientCredentialsGrantRequest,
  customFetch,
  nopkce,
  processAuthorizationCodeResponse,
  processClientCredentialsResponse,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
  skipStateCheck,
  validateAuthResponse,
} from 'oauth4webapi'
import type { Manifest, OAuthDeclaration } from '../../contract/connector/manifest.ts'
import type { OAuthCapability } from '../../contract/connector/oauth.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { errorOf } from '../../contract/errors/thrown.ts'
import { membersOf } from '../../contract/schema/record.ts'
import type { EgressCall, OpenEgress } from '../call/call.ts'
import { orAborted } from '../login/or-aborted.ts'
import { fillAddress, withoutQuery } from '../rules/address.ts'
import { type AuthorizationRequest, authorizationUrl, scopesOf } from './authorization-url.ts'
import { declarationFor } from './declared.ts'
import { type ProviderAnswer, type SendRequest, tokenFetch } from './token-endpoint.ts'

type OAuthCall = {
  connectorId: string
  /** See `EgressCall`. */
  readonly manifest: Manifest
  capability: OAuthCapability
  /** Request, parsed by the schema of its capability. */
  request: unknown
  settings: Readonly<Record<string, unknown>>
  /** Ends the call; its reason is a RuntimeError. */
  signal: AbortSignal
  /** Latest time at which the call ends, in milliseconds since the epoch. */
  endMs: number
  redact(text: string): string
  /** Called with the record of each request when the call is over. */
  onRecord(record: OpenEgress['records'][number]): void
}

/** Response, and the provider's own JSON, or null if the provider was not asked. */
export type OAuthAnswer = { response: object; raw: ProviderAnswer | null }

export type OAuthDeps = {
  open(call: EgressCall): OpenEgress
  /**
   * Runs `find` for one key only once at a time, also across hosts. Concurrent callers get the same result.
   */
  once<T>(key: string, find: () => Promise<T>): Promise<T>
}

type PerformOAuth = (call: OAuthCall) => Promise<OAuthAnswer>

/** Call, with everything that its capability needs. */
type Task<R = Record<string, unknown>> = {
  call: OAuthCall
  declaration: OAuthDeclaration
  request: R
  tokenUrl(): string
  once: OAuthDeps['once']
  send: SendRequest
}

/**
 * Creates the function that performs the OAuth capabilities.
 *
 * It throws request_invalid, settings_invalid, capability_missing, oauth_refused, oauth_garbled, the errors
 * of egress, and the reason of the call's signal.
 */
export function createOAuth({ open, once }: OAuthDeps): PerformOAuth {
  const manifests = createTokenManifests()
  return (call) => orAborted(carryOut(call), call.signal)

  async function carryOut(call: OAuthCall): Promise<OAuthAnswer> {
    const { manifest, capability, settings } = call
    const request = membersOf(call.request)
    const { credential_id: named } = request
    const credentialId = typeof named === 'string' ? named : null
    const declaration = declarationFor({ manifest, capability, settings, credentialId })
    const egress = open({
      connectorId: call.connectorId,
      get manifest() {
        // Current manifest: a grant that the operator withdrew is refused, also to a waiting request.
        return manifests(call.manifest, declaration)
      },
      capability,
      level: 'write',
      settings,
      signal: signalOf(call),
      endMs: call.endMs,
      secrets: null,
      once: true,
      redact: call.redact,
    })
    const send: SendRequest = (one) => egress.fetch({ ...one, redirect: 'manual' })
    const tokenUrl = () => fillAddress(declaration.token_url, manifest.settings, settings)
    try {
      // The cast: the request was parsed by the schema of its capability.
      return await PERFORM[capability]({
        call,
        declaration,
        request,
        tokenUrl,
        once,
        send,
      } as never)
    } catch (error) {
      throw classified(error)
    } finally {
      egress.records.forEach(call.onRecord)
    }
  }
}

/**
 * Returns the signal that ends a call's requests. A refresh is finished even if the caller disconnects: its
 * token is used up, and other callers may wait for the new one.
 */
const signalOf = ({ capability, signal, endMs }: OAuthCall): AbortSignal =>
  capability === 'refresh_access_token'
    ? AbortSignal.timeout(Math.max(0, endMs - Date.now()))
    : signal

/** Implementation of each capability. */
const PERFORM: Record<OAuthCapability, (task: never) => Promise<OAuthAnswer>> = {
  get_authorization_url,
  handle_authorization_callback,
  handle_client_credentials_request,
  refresh_access_token,
}

async function get_authorization_url({
  call: { manifest, settings },
  declaration,
  request,
}: Task<AuthorizationRequest>): Promise<OAuthAnswer> {
  const { authorization_url: template, scopes: declared = {}, pkce } = declaration
  if (template === undefined)
    throw new RuntimeError('request_invalid', `${manifest.id} declares no authorization_url`)
  const address = fillAddress(template, manifest.settings, settings)
  const response = await authorizationUrl(request, { authorizationUrl: address, declared, pkce })
  return { response, raw: null }
}

type Callback = {
  client_id: string
  client_secret: string
  redirect_uri_with_code: string
  state?: string | null
  code_verifier?: string | null
}

async function handle_authorization_callback(task: Task<Callback>): Promise<OAuthAnswer> {
  const { redirect_uri_with_code: text, state: expected, code_verifier: verifier } = task.request
  const url = URL.parse(text)
  if (!url)
    throw new RuntimeError(
      'request_invalid',
      'request.redirect_uri_with_code: is no address; write the whole callback address',
    )
  const state = url.searchParams.get('state')
  // Also if the callback has no state: a forged one can leave it out.
  if (expected && url.searchParams.get('code') && state !== expected)
    throw new RuntimeError(
      'request_invalid',
      'request.state: is not the state of the callback, which may be forged',
    )
  const { client, authenticate } = clientOf(task)
  // The issuer is known only from the callback itself, and is used for nothing else.
  const as = server(task.tokenUrl(), url.searchParams.get('iss'))
  const parameters = validateAuthResponse(as, client, url.searchParams, skipStateCheck)
  // Exactly as it was sent to the authorization endpoint.
  const redirectUri = text.replace(/[?#].*$/s, '')
  const { options, given } = library(task)
  const reply = await authorizationCodeGrantRequest(
    as,
    client,
    authenticate,
    parameters,
    redirectUri,
    verifier || nopkce,
    options,
  )
  const tokens = await processAuthorizationCodeResponse(as, client, reply)
  return answer(tokens, given())
}

type ClientCredentials = { client_id: string; client_secret: string; scopes: string[] }

async function handle_client_credentials_request(
  task: Task<ClientCredentials>,
): Promise<OAuthAnswer> {
  const scopes = scopesOf(task.request.scopes, task.declaration.scopes ?? {})
  const { client, authenticate } = clientOf(task)
  const as = server(task.tokenUrl())
  const { options, given } = library(task)
  const parameters: Record<string, string> = scopes.length > 0 ? { scope: scopes.join(' ') } : {}
  const reply = await clientCredentialsGrantRequest(as, client, authenticate, parameters, options)
  return answer(await processClientCredentialsResponse(as, client, reply), given())
}

type Refresh = { client_id: string; client_secret: string; refresh_token: string }

/**
 * Equal concurrent refreshes share one request. A server that rotates refresh tokens takes the second use of
 * one for theft, and ends the grant (RFC 9700 section 4.14).
 */
async function refresh_access_token(task: Task<Refresh>): Promise<OAuthAnswer> {
  const { client_id, client_secret, refresh_token } = task.request
  const { connectorId } = task.call
  const parts = [connectorId, task.tokenUrl(), client_id, client_secret, refresh_token]
  const key = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return task.once(key, async () => {
    const { client, authenticate } = clientOf(task)
    const as = server(task.tokenUrl())
    const { options, given } = library(task)
    const reply = await refreshTokenGrantRequest(as, client, authenticate, refresh_token, options)
    return answer(await processRefreshTokenResponse(as, client, reply), given())
  })
}

const server = (tokenUrl: string, issuer: string | null = null): AuthorizationServer => ({
  issuer: issuer ?? new URL(tokenUrl).origin,
  token_endpoint: tokenUrl,
})

function clientOf({
  declaration,
  request: { client_id, client_secret },
}: Task<{ client_id: string; client_secret: string }>) {
  const authenticate =
    declaration.client_authentication === 'CLIENT_SECRET_BASIC'
      ? basicAuthentication(client_secret)
      : ClientSecretPost(client_secret)
  return { client: { client_id }, authenticate }
}

/**
 * HTTP Basic with both halves form-encoded (RFC 6749 section 2.3.1) by the WHATWG rule, which leaves `*-._`
 * unchanged. Many servers compare the value without decoding it, and client ids often contain these
 * characters.
 */
const basicAuthentication =
  (secret: string): ClientAuth =>
  (_as, { client_id }, _body, headers) =>
    headers.set(
      'authorization',
      `Basic ${Buffer.from(`${formEncoded(client_id)}:${formEncoded(secret)}`).toString('base64')}`,
    )

const formEncoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1)

function library({ declaration, send, call }: Pick<Task, 'declaration' | 'send' | 'call'>) {
  let seen: ProviderAnswer = {}
  const options = {
    // The cast: the library's type of `fetch` is broader than its use.
    [customFetch]: tokenFetch(declaration, {
      send,
      redact: call.redact,
      onAnswer(given) {
        seen = given
      },
    }) as never,
    // Egress judges schemes: http needs the author's declaration and the operator's grant.
    [allowInsecureRequests]: true,
  }
  return { options, given: () => seen }
}

function answer(
  tokens: { access_token: string; token_type: string; refresh_token?: string },
  given: ProviderAnswer,
): OAuthAnswer {
  if (tokens.token_type !== 'bearer')
    throw new RuntimeError(
      'oauth_garbled',
      `the token endpoint gave a token of the type ${tokens.token_type.slice(0, 40)}; only bearer tokens are used`,
    )
  const { state } = given
  return {
    response: {
      access_token: tokens.access_token,
      token_type: 'bearer',
      refresh_token: tokens.refresh_token ?? null,
      state: typeof state === 'string' ? state : null,
    },
    raw: given,
  }
}

/** Converts the library's errors to the runtime's own. */
function classified(error: unknown): unknown {
  if (error instanceof RuntimeError) return error
  if (error instanceof AuthorizationResponseError) {
    const why = [error.error, error.error_description].filter(Boolean).join(': ')
    return new RuntimeError(
      'oauth_refused',
      `the authorization server refused: ${why.slice(0, 400)}`,
      {},
      error,
    )
  }
  const { message, cause } = errorOf(error)
  const { code } = membersOf(error)
  // Thrown while the request was in progress.
  if (cause instanceof RuntimeError) return cause
  if (/authorization code/.test(message))
    return new RuntimeError(
      'request_invalid',
      'request.redirect_uri_with_code: has no code; write the whole callback address',
    )
  if (typeof code !== 'string') return error
  if (code.startsWith('ERR_INVALID_ARG'))
    return new RuntimeError('request_invalid', `request: ${message}`, {}, error)
  return code.startsWith('OAUTH_')
    ? new RuntimeError('oauth_garbled', `the authorization server: ${message}`, {}, error)
    : error
}

/**
 * Creates manifests whose egress is the token endpoint alone: requests with a client's secret go nowhere
 * else, even if the connector may reach more. Each is created once per declaration.
 */
function createTokenManifests() {
  const known = new WeakMap<OAuthDeclaration, Manifest>()
  return (manifest: Manifest, declaration: OAuthDeclaration): Manifest => {
    const made = known.get(declaration) ?? {
      ...manifest,
      egress: [
        {
          url: withoutQuery(declaration.token_url),
          methods: [declaration.request?.method ?? 'POST'],
        },
      ],
      capabilities: {},
    }
    known.set(declaration, made)
    return made
  }
}
