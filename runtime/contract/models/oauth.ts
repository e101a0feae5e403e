/** Response of a token endpoint: connector-interface.md section 2.11. */
import * as v from 'valibot'
import { nullable, strictObject } from '../schema/schemas.ts'

const secret = (schema: v.GenericSchema<string>) =>
  v.pipe(schema, v.metadata({ secret: true, fieldType: 'HIDDEN' }))

export const OauthCredentials = strictObject(
  'OauthCredentials',
  'Tokens; `expires_in` is in raw_data',
  {
    access_token: secret(v.string()),
    token_type: v.literal('bearer'),
    refresh_token: nullable(secret(v.string())),
    state: nullable(v.string()),
  },
)
