/**
 * OAuth tokens that Keyway obtains itself before an app is connected with them: by a person's consent at an
 * authorization server, or for the OAuth client itself. Nothing is stored here. The result is the `auth` of
 * `POST /apps`.
 */
import type { CapabilityName, Output } from '../../../contract/capabilities/capabilities.ts'
import { parseSettings } from '../../../contract/connector/connection.ts'
import type { Manifest, OAuthDeclaration } from '../../../contract/connector/manifest.ts'
import {
  OAUTH_FLOWS,
  type OAuthFlow,
  oauthDeclarations,
  offers,
} from '../../../contract/connector/oauth.ts'
import { badRequest, CoreError } from '../../../contract/errors/problem.ts'
import { isOneOf } from '../../../contract/schema/one-of.ts'
import type { Db } from '../../../database/database.ts'
import { randomSecret } from '../../../secrets/key-derivation.ts'
import { responseOf, type ServedConnector } from '../../kernel/context/connectors.ts'
import type { RequestContext } from '../../kernel/context/context.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { findApp } from './apps.ts'
import { openConnection } from './connections.ts'

/** Timeout for an authorization server, in milliseconds. */
const OBTAIN_MS = 30_000

/**
 * An OAuth client as registered at the authorization server. Without scopes, those that the connector
 * declares are requested.
 */
export type OAuthClient = { client_id: string; client_secret: string; scopes: string[] }

/** Use of the tokens. */
export type TokenPurpose = {
  connector: ServedConnector
  /** Id of the credential; empty if there is only one. */
  credential: string
  client: OAuthClient
  /** Id of the app to reconnect, or null for a new one. */
  appId: string | null
  /** Settings of the connection; undefined to use the app's stored ones. */
  settings: Record<string, unknown> | undefined
}

const FLOW_BEGINS = {
  CODE_FLOW: 'get_authorization_url',
  CLIENT_CREDENTIALS: 'handle_client_credentials_request',
} as const satisfies Record<OAuthFlow, CapabilityName>

/**
 * Returns the credentials of a connector whose tokens Keyway can obtain, each with its possible flows. The id
 * is empty if there is only one.
 */
export const obtainable = (manifest: Manifest): ReadonlyMap<string, readonly OAuthFlow[]> =>
  new Map(
    oauthDeclarations(manifest)
      .map(({ id, oauth: { flow } }): [string, OAuthFlow[]] => {
        const flows = typeof flow === 'string' ? [flow] : OAUTH_FLOWS
        return [id ?? '', flows.filter((one) => offers(manifest, FLOW_BEGINS[one]))]
      })
      .filter(([, flows]) => flows.length > 0),
  )

/** Address for consent, and the values that identify its callback. */
type StartedConsent = { url: string; state: string; verifier: string | null }

/**
 * Starts obtaining tokens. Returns the address where a person gives consent, or the tokens of the client
 * itself.
 */
export async function obtainTokens(
  db: Db,
  principal: Principal,
  purpose: TokenPurpose,
  redirectUri: string,
  parts: RequestContext,
): Promise<StartedConsent | { auth: Record<string, unknown> }> {
  const { connector, client } = purpose
  const settings = await settingsOf(db, principal, purpose, parts)
  if (flowIn(purpose, settings) === 'CLIENT_CREDENTIALS') {
    const { tokens, raw } = await ask(
      purpose,
      'handle_client_credentials_request',
      { settings, request: { ...client, ...named(purpose) } },
      parts,
    )
    return { auth: authOf(purpose, 'CLIENT_CREDENTIALS', tokens, raw) }
  }
  const { client_id, scopes } = client
  const state = randomSecret()
  const { tokens: asked } = await ask(
    purpose,
    'get_authorization_url',
    {
      settings,
      request: { client_id, scopes, redirect_uri: redirectUri, state, ...named(purpose) },
    },
    parts,
  )
  const { authorization_url: url, code_verifier: verifier } = asked
  // The browser is redirected there, and a connector may have built the address.
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new CoreError('upstream_failed', `${connector.id} returned no address for giving consent`)
  return { url, state, verifier: verifier ?? null }
}

/** Exchanges a given consent for tokens, by the address to which the browser returned. */
export async function consentedAuth(
  db: Db,
  principal: Principal,
  purpose: TokenPurpose,
  { callback, state, verifier }: { callback: string; state: string; verifier: string | null },
  parts: RequestContext,
): Promise<Record<string, unknown>> {
  const settings = await settingsOf(db, principal, purpose, parts)
  const { client_id, client_secret } = purpose.client
  const { tokens, raw } = await ask(
    purpose,
    'handle_authorization_callback',
    {
      settings,
      request: {
        ...{ client_id, client_secret, redirect_uri_with_code: callback, state },
        ...(verifier === null ? {} : { code_verifier: verifier }),
        ...named(purpose),
      },
    },
    parts,
  )
  return authOf(purpose, 'CODE_FLOW', tokens, raw)
}

const named = ({ credential }: TokenPurpose) =>
  credential === '' ? {} : { credential_id: credential }

/**
 * Returns the validated settings.
 *
 * @throws CoreError `bad_request` that names each invalid setting, `forbidden`, `not_found`, `conflict`
 */
async function settingsOf(
  db: Db,
  principal: Principal,
  { connector, appId, settings }: TokenPurpose,
  { vault }: RequestContext,
): Promise<Record<string, unknown>> {
  const row = appId === null ? null : await findApp(db, principal, appId, 'apps.write')
  const kept =
    settings === undefined && row !== null && row.sealedConnection !== null
      ? openConnection(vault, row).settings
      : {}
  const parsed = parseSettings(connector.manifest, connector.settings, settings ?? kept)
  if (!parsed.ok) throw badRequest(parsed.findings)
  return parsed.value
}

/** Returns the OAuth declaration of a credential. @throws CoreError `bad_request` if it has none */
function declarationOf({ connector, credential }: TokenPurpose): OAuthDeclaration {
  const found = oauthDeclarations(connector.manifest).find(({ id }) => (id ?? '') === credential)
  if (!found) throw badRequest(`${connector.id} declares no OAuth for this credential`)
  return found.oauth
}

/** Returns the flow, which a setting may choose. */
function flowIn(purpose: TokenPurpose, settings: Record<string, unknown>): OAuthFlow {
  const { flow } = declarationOf(purpose)
  if (typeof flow === 'string') return flow
  const chosen = settings[flow.setting]
  return isOneOf(OAUTH_FLOWS, chosen) ? chosen : 'CODE_FLOW'
}

type Asking = { settings: Record<string, unknown>; request: Record<string, unknown> }

/**
 * Calls a capability for tokens.
 *
 * @throws CoreError `bad_request` if the connector rejects the request, `upstream_failed`
 */
async function ask<C extends CapabilityName>(
  { connector, appId }: TokenPurpose,
  capability: C,
  asking: Asking,
  { connectors, requestId, cause, signal }: RequestContext,
): Promise<{ tokens: Output<C>; raw: Record<string, unknown> }> {
  const { id, manifest } = connector
  const name = manifest.name ?? id
  const late = AbortSignal.timeout(OBTAIN_MS)
  const answer = await connectors.call({
    ...{ connectorId: id, capability, requestId, cause, appId },
    body: { ...asking, include_raw_data: true },
    signal: AbortSignal.any([signal, late]),
  })
  if (answer.ok) return { tokens: responseOf(capability, answer), raw: answer.raw ?? {} }
  if (late.aborted)
    throw new CoreError(
      'upstream_failed',
      `${name} did not answer within ${OBTAIN_MS / 1000} seconds`,
    )
  const { error_code: code, message } = answer.error
  throw new CoreError(
    code === 'bad_request' || code === 'invalid_value' ? 'bad_request' : 'upstream_failed',
    `${name} returned no tokens (${code}): ${message.slice(0, 1000)}`,
  )
}

type Tokens = Output<'handle_authorization_callback'>

/** Returns the `auth` of an app, with the values that renew the access token if the server gave any. */
function authOf(
  { connector, credential, client }: TokenPurpose,
  flow: OAuthFlow,
  { access_token, refresh_token }: Tokens,
  raw: Record<string, unknown>,
): Record<string, unknown> {
  const { authentication_schema: single, credentials = [] } = connector.manifest
  const kind = single?.kind ?? credentials.find(({ id }) => id === credential)?.kind
  const { client_id, client_secret, scopes } = client
  const seconds = Number(raw['expires_in'] ?? Number.NaN)
  const renewed = refresh_token ? { refresh_token } : {}
  const isRenewed = Boolean(refresh_token) || flow === 'CLIENT_CREDENTIALS'
  const fields =
    kind === 'oauth_client_credentials'
      ? { access_token, client_id, client_secret, scopes }
      : {
          access_token,
          ...renewed,
          ...(isRenewed ? { client_id, client_secret, scopes } : {}),
          ...(Number.isSafeInteger(seconds) && seconds >= 0 ? { expires_in: seconds } : {}),
        }
  return credential === '' ? fields : { [credential]: fields }
}
