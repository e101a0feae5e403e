/** The request of a manifest's `exchange`, for one call. It has placeholders, like any request of a guest. */

import type { Manifest } from '../../contract/connector/manifest.ts'
import { signPlaceholder } from '../../contract/connector/placeholder.ts'
import type { CallSecrets } from '../../contract/connector/secrets.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { isRecord } from '../../contract/schema/record.ts'
import type { OutgoingRequest } from '../exchange/exchange.ts'
import { fillAddress } from '../rules/address.ts'

type Exchange = NonNullable<Manifest['exchange']>

/** A `{name}` in a header, a form or a JSON text. */
const NAME = /\{([a-z][A-Za-z0-9_.-]*)\}/g

/**
 * Fills in the request. A setting's value cannot change the structure of the URL.
 *
 * @throws egress_setting if a value does not fit the URL, settings_invalid if one is missing in it
 */
export function exchangeRequest(
  { request }: Exchange,
  manifest: Manifest,
  secrets: CallSecrets,
): OutgoingRequest {
  const { method, headers = {}, json, form } = request
  const fillText = (text: string): string =>
    text.replace(NAME, (_all, name: string) => String(lookUp(name, secrets)))
  const sent = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    fillText(value),
  ])
  const { type, text } = bodyOf(json, form, secrets)
  if (type !== null && !sent.some(([name]) => name.toLowerCase() === 'content-type'))
    sent.push(['content-type', type])
  if (!sent.some(([name]) => name.toLowerCase() === 'accept'))
    sent.push(['accept', 'application/json'])
  return {
    url: fillAddress(request.url, manifest.settings, secrets.clear.settings),
    method,
    headers: sent,
    body: text === null ? null : Buffer.from(text),
  }
}

function bodyOf(json: unknown, form: Record<string, string> | undefined, secrets: CallSecrets) {
  if (form !== undefined) {
    const pairs = Object.entries(form).map(([name, value]): [string, string] => [
      name,
      String(fillValue(value, secrets)),
    ])
    const type = 'application/x-www-form-urlencoded'
    return { type, text: new URLSearchParams(pairs).toString() }
  }
  if (json === undefined) return { type: null, text: null }
  return { type: 'application/json', text: JSON.stringify(fillValue(json, secrets)) }
}

/**
 * Fills in the names in a JSON value. A text that is exactly one name becomes the value itself, of any type.
 */
function fillValue(value: unknown, secrets: CallSecrets): unknown {
  if (typeof value === 'string') {
    const whole = /^\{([a-z][A-Za-z0-9_.-]*)\}$/.exec(value)?.[1]
    if (whole !== undefined) return lookUp(whole, secrets)
    return value.replace(NAME, (_all, name: string) => String(lookUp(name, secrets)))
  }
  if (Array.isArray(value)) return value.map((one) => fillValue(one, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, fillValue(one, secrets)]),
  )
}

/** Returns the value of a name, or the placeholder of a secret. */
function lookUp(name: string, { sealed, marks, call }: CallSecrets): unknown {
  const [first = '', ...rest] = name.split('.')
  if (first === 'sign') {
    const [what, credential] = rest
    const asked = { do: what, options: credential === undefined ? {} : { credential } }
    return signPlaceholder(marks, call, Buffer.from(JSON.stringify(asked)).toString('hex'))
  }
  if (first === 'basic') {
    const basic = (rest[0] === undefined ? sealed.auth : sealed.credentials?.[rest[0]])?.basic
    if (basic)
      return `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`
    throw missing(name)
  }
  let value: unknown = sealed
  for (const part of [first, ...rest]) {
    value = isRecord(value) && Object.hasOwn(value, part) ? value[part] : undefined
  }
  if (value === undefined || value === null) throw missing(name)
  return value
}

const missing = (name: string): RuntimeError =>
  new RuntimeError('egress_setting', `The exchange needs ${name}, which the call does not have`)

/** Returns the owners of the secrets that an exchange sends, as an egress entry's `secrets` names them. */
export function ownersOf({ request }: Exchange, { clear, secrets }: CallSecrets): string[] {
  const { headers, json, form } = request
  const names = [...JSON.stringify([headers, json, form]).matchAll(NAME)].map(([, name]) => name)
  const owners = names.flatMap((name = '') => {
    const [first, second, third] = name.split('.')
    // A setting that is not a secret has no owner.
    if (first === 'settings')
      return secrets.some(({ owner }) => owner === `settings.${second}`)
        ? [`settings.${second}`]
        : []
    if (first === 'credentials') return [second]
    const named = first === 'sign' ? third : first === 'basic' ? second : undefined
    if (named !== undefined) return [named]
    return clear.auth ? ['auth'] : Object.keys(clear.credentials ?? {})
  })
  return [...new Set(owners)].filter((one) => one !== undefined)
}
