/** Renewable access tokens of a connection, the calls that renew them, and when. */

import { eq, sql } from 'drizzle-orm'
import type { CapabilityName } from '../../../contract/capabilities/capabilities.ts'
import type { AuthCredential } from '../../../contract/connector/authentication.ts'
import type { Connection } from '../../../contract/connector/connection.ts'
import type { Manifest } from '../../../contract/connector/manifest.ts'
import { oauthDeclarations, offers, performed } from '../../../contract/connector/oauth.ts'
import { isOneOf } from '../../../contract/schema/one-of.ts'
import type { Db } from '../../../database/database.ts'
import { tokenRenewals } from '../../../database/schema/apps.ts'

/** A call that returns a new access token. */
type RenewalCall = {
  /** Id of the credential; empty if there is only one. */
  id: string
  capability: 'refresh_access_token' | 'handle_client_credentials_request'
  request: Record<string, unknown>
}

/** Returns the renewals that are possible. It is empty if the connection lacks the required values. */
export function renewalsOf(manifest: Manifest, connection: Connection): RenewalCall[] {
  return oauthDeclarations(manifest).flatMap(({ id, oauth }): RenewalCall[] => {
    const credential = credentialOf(connection, id)
    if (!credential) return []
    const { client_id, client_secret, refresh_token, scopes } = {
      ...connection.renewals?.[id ?? ''],
      ...credential.oauth_client_credentials,
    }
    if (client_id === undefined || client_secret === undefined) return []
    const can = (capability: CapabilityName) =>
      isOneOf(performed(oauth), capability) || offers(manifest, capability)
    const request = { client_id, client_secret, ...(id === null ? {} : { credential_id: id }) }
    if (refresh_token !== undefined && can('refresh_access_token'))
      return [
        {
          id: id ?? '',
          capability: 'refresh_access_token' as const,
          request: { ...request, refresh_token },
        },
      ]
    if (can('handle_client_credentials_request'))
      return [
        {
          id: id ?? '',
          capability: 'handle_client_credentials_request' as const,
          request: { ...request, scopes: scopes ?? [] },
        },
      ]
    return []
  })
}

const credentialOf = ({ auth, credentials = [] }: Connection, id: string | null) =>
  id === null ? auth : credentials.find((one) => one.id === id)

type Tokens = { access_token: string; refresh_token?: string | null | undefined }

/** Puts new tokens into a connection. A server that keeps the refresh token sends none. */
export function withTokens(connection: Connection, id: string, tokens: Tokens): Connection {
  const held = (credential: AuthCredential): AuthCredential => ({
    ...credential,
    ...(credential.oauth ? { oauth: { access_token: tokens.access_token } } : {}),
    ...(credential.oauth_client_credentials
      ? {
          oauth_client_credentials: {
            ...credential.oauth_client_credentials,
            access_token: tokens.access_token,
          },
        }
      : {}),
  })
  const { auth, credentials } = connection
  const renewal = connection.renewals?.[id]
  const { refresh_token } = tokens
  return {
    ...connection,
    ...(id === '' && auth ? { auth: held(auth) } : {}),
    ...(id !== '' && credentials
      ? { credentials: credentials.map((one) => (one.id === id ? held(one) : one)) }
      : {}),
    ...(renewal && refresh_token
      ? { renewals: { ...connection.renewals, [id]: { ...renewal, refresh_token } } }
      : {}),
  }
}

/**
 * Assumed lifetime of a token if the server states none, and maximum lifetime that is believed, in seconds.
 */
const UNKNOWN_SECONDS = 3600
const MAX_SECONDS = 30 * 24 * 3600
/** Minimum time until a renewal, in seconds. */
const SHORTEST_SECONDS = 30

/**
 * Returns when to renew a token, in seconds from now: before its expiry by a fifth of its lifetime, at most
 * ten minutes.
 */
export function renewAfterSeconds(expiresIn: unknown): number {
  const told = Number(expiresIn ?? Number.NaN)
  const good = Math.min(Number.isFinite(told) && told >= 0 ? told : UNKNOWN_SECONDS, MAX_SECONDS)
  return Math.max(SHORTEST_SECONDS, Math.floor(good - Math.min(good / 5, 600)))
}

/**
 * Plans the renewal of a new connection's tokens: at once if their lifetime is unknown. Replaces an earlier
 * plan.
 */
export async function planRenewal(
  tx: Db,
  { id: appId, domainId }: { id: string; domainId: string },
  manifest: Manifest,
  connection: Connection,
): Promise<void> {
  const calls = renewalsOf(manifest, connection)
  await tx.delete(tokenRenewals).where(eq(tokenRenewals.appId, appId))
  if (calls.length === 0) return
  const seconds = calls.map(({ id }) => {
    const { expires_in } = connection.renewals?.[id] ?? {}
    return expires_in === undefined ? 0 : renewAfterSeconds(expires_in)
  })
  const renewAt = sql`clock_timestamp() + make_interval(secs => ${Math.min(...seconds)})`
  await tx.insert(tokenRenewals).values({ appId, domainId, renewAt: renewAt })
}
