import type { Signing, SigningName } from '../../contract/connector/signing.ts'
import { ConnectorError } from './connector-error.ts'
import { isObject, own } from './own.ts'
import { jsonText } from './primordials.ts'
import { encodeUtf8 } from './utf8.ts'

/**
 * Makes `ctx.sign`. Each method returns a placeholder that describes what to sign. The host signs it when the
 * request is sent.
 */
export function makeSigning(marks: unknown): Signing {
  const ask = (name: SigningName, options: unknown): string => {
    if (!isObject(marks)) {
      throw new ConnectorError(
        'integration_missing_parameter',
        'ctx.sign needs a call with a secret to sign with: a credential, or a setting that is secret',
      )
    }
    const question = jsonText({ do: name, options: options ?? {} })
    return `${own(marks, '0')}d${hex(encodeUtf8(question))}${own(marks, '1')}`
  }
  return {
    jwt: (options) => ask('jwt', options),
    serviceAccount: (options) => ask('service_account', options),
    oauth1: (options) => ask('oauth1', options),
    aws: (options) => ask('aws', options),
  }
}

function hex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += (byte < 16 ? '0' : '') + byte.toString(16)
  return text
}
