/** Tokens of identity providers that push people by SCIM. Keyway's own. */
import { NewScimToken, ScimToken, ScimTokenInput } from '../models/scim.ts'
import { endpoint } from './endpoint.ts'

const tokens = endpoint('SCIM tokens')

export const SCIM_TOKEN_ENDPOINTS = {
  list_scim_tokens: tokens.page('/scim_tokens', {
    summary: 'List the tokens of identity providers, newest first',
    who: 'scim.read',
    output: ScimToken,
  }),
  create_scim_token: tokens.post('/scim_tokens', {
    summary: 'Create a token for /scim/v2 only',
    who: 'scim.write',
    body: ScimTokenInput,
    output: NewScimToken,
    status: 201,
    errors: [409],
  }),
  revoke_scim_token: tokens.delete('/scim_tokens/:scim_token_id', {
    summary: 'Revoke a token at once; revoking it twice is not an error',
    who: 'scim.write',
  }),
} as const
