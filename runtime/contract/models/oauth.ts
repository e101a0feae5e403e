/** What a token endpoint gave: connector-interface.md section 2.11. */
import * as v from 'valibot'
import { nullable } from '../schema/optional.ts'

const secret = (schema: v.GenericSchema<string>) =>
  v.pipe(schema, v.metadata({ secret: true, fieldType: 'HIDDEN' }))

export const OauthCredentials = v.pipe(
  v.strictObject({
    access_token: secret(v.string()),
    token_type: v.literal('bearer'),
    refresh_token: nullable(secret(v.string())),
    state: nullable(v.string()),
  }),
  v.metadata({ title: 'OauthCredentials', description: 'Tokens; `expires_in` is in raw_data' }),
)
