/** Capabilities that obtain and renew the tokens of a connection. Their envelope has no credentials. */
import * as v from 'valibot'
import { OauthCredentials } from '../models/oauth.ts'
import { described, maybe, nullable, stringMap } from '../schema/schemas.ts'
import { capabilities } from './row.ts'

const oauth = capabilities({ group: 'OAuth', level: 'write', plain: true })
const secretText = v.pipe(v.string(), v.metadata({ secret: true, fieldType: 'SECRET' }))
const credentialId = maybe(described(v.string(), 'Id of the credential, if there are several'))

export const OAUTH = {
  get_authorization_url: oauth({
    summary: 'Create the URL at which a person gives consent',
    input: v.object({
      client_id: v.string(),
      scopes: v.array(v.string()),
      redirect_uri: v.string(),
      state: v.string(),
      form_data: maybe(stringMap()),
      credential_id: credentialId,
    }),
    output: v.strictObject({
      authorization_url: v.string(),
      code_verifier: nullable(described(v.string(), 'With PKCE: pass it to the callback')),
    }),
  }),
  handle_authorization_callback: oauth({
    summary: 'Exchange the code of a callback for tokens',
    input: v.object({
      client_id: v.string(),
      client_secret: secretText,
      redirect_uri_with_code: described(secretText, 'The whole callback URL, including `?code=`'),
      state: maybe(v.string()),
      code_verifier: maybe(secretText),
      credential_id: credentialId,
    }),
    output: OauthCredentials,
  }),
  handle_client_credentials_request: oauth({
    summary: 'Get a token for the client itself',
    input: v.object({
      client_id: v.string(),
      client_secret: secretText,
      scopes: v.array(v.string()),
      credential_id: credentialId,
    }),
    output: OauthCredentials,
  }),
  refresh_access_token: oauth({
    summary: 'Exchange a refresh token for a new access token',
    input: v.object({
      client_id: v.string(),
      client_secret: secretText,
      refresh_token: secretText,
      state: maybe(v.string()),
      credential_id: credentialId,
    }),
    output: OauthCredentials,
  }),
} as const
