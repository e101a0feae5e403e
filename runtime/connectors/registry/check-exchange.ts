/** Checks `exchange` in a manifest: everything it names must exist, and egress must allow its request. */

import { AUTHENTICATION, type CredentialKind } from '../../contract/connector/authentication.ts'
import { type EgressRule, isUrlRule, type Manifest } from '../../contract/connector/manifest.ts'
import { isRefusedName } from '../../contract/connector/refused-headers.ts'
import { SIGNING } from '../../contract/connector/signing.ts'
import { isPointer } from '../../contract/schema/json-pointer.ts'
import type { CheckEgress } from './check-egress.ts'

type Exchange = NonNullable<Manifest['exchange']>

/** Returns the findings for the exchange; empty if there is none. */
export function checkExchange(manifest: Manifest, checkEgress: CheckEgress): string[] {
  const { exchange, settings } = manifest
  if (exchange === undefined) return []
  const { request } = exchange
  const address = checkEgress([{ url: request.url }], settings, 'exchange.request').map((finding) =>
    finding.replace('exchange.request[0].url', 'exchange.request.url'),
  )
  return [
    ...address,
    ...(address.length === 0 ? covered(request, manifest.egress.filter(isUrlRule)) : []),
    ...(request.url.includes('*')
      ? ['exchange.request.url: has a *: write the one address that is meant']
      : []),
    ...bodyFindings(request),
    ...nameFindings(manifest, request),
    ...placeFindings(exchange),
  ]
}

/** Egress is checked at every exchange. Report here if no entry could ever allow it. */
function covered({ url, method }: Exchange['request'], egress: readonly EgressRule[]): string[] {
  const begins = egress.filter((rule) => {
    const base = rule.url.replace(/\/$/, '')
    return url === base || url.startsWith(`${base}/`)
  })
  if (begins.length === 0)
    return [
      `exchange.request.url: ${JSON.stringify(url)} begins with the url of no egress entry; declare { "url": ${JSON.stringify(url)}, "methods": [${JSON.stringify(method)}] } under egress`,
    ]
  if (begins.some(({ methods }) => methods === undefined || methods.includes(method))) return []
  return [
    `exchange.request.method: no egress entry for ${url} has ${method}; add it to the entry's "methods"`,
  ]
}

function bodyFindings({ method, json, form }: Exchange['request']): string[] {
  if (json !== undefined && form !== undefined)
    return ['exchange.request: found both json and form; write one of them']
  const hasBody = json !== undefined || form !== undefined
  return hasBody && (method === 'GET' || method === 'HEAD')
    ? [`exchange.request.method: a ${method} has no body; write POST`]
    : []
}

function nameFindings(manifest: Manifest, { headers, json, form }: Exchange['request']): string[] {
  return Object.entries({ headers, json, form }).flatMap(([member, value]) => {
    const names = JSON.stringify(value ?? null).matchAll(/\{([a-z][A-Za-z0-9_.-]*)\}/g)
    return [...names].flatMap(([, name = '']) => {
      const wrong = nameFinding(name, manifest)
      return wrong === null ? [] : [`exchange.request.${member}: {${name}} ${wrong}`]
    })
  })
}

/** Returns the finding for a name; null if the name is known. */
function nameFinding(name: string, manifest: Manifest): string | null {
  const [first = '', ...rest] = name.split('.')
  const { authentication_schema: single, credentials = [], settings } = manifest
  const byId = (id: string | undefined) =>
    id === undefined ? single : credentials.find((one) => one.id === id)
  if (first === 'settings')
    return Object.hasOwn(settings, rest.join('.')) ? null : 'is not declared under settings'
  if (first === 'auth')
    return single ? fieldFinding(rest, single.kind) : 'needs an authentication_schema'
  if (first === 'credentials') {
    const [id, ...path] = rest
    const found = credentials.find((one) => one.id === id)
    return found ? fieldFinding(path, found.kind) : 'names no declared credential'
  }
  if (first === 'basic')
    return byId(rest[0])?.kind === 'basic' ? null : 'needs a credential of the kind basic'
  if (first === 'sign') {
    const [what = '', id] = rest
    const text = TEXT_SIGNERS.find(([one]) => one === what)
    if (!text) return `is none of ${SIGNED.join(' and ')}`
    const kinds: readonly string[] = text[1].kinds
    const given = id === undefined ? [single, ...credentials] : [byId(id)]
    return given.some((one) => one && kinds.includes(one.kind))
      ? null
      : `needs a credential of the kind ${kinds.join(' or ')}`
  }
  return `stands for nothing: write auth.KIND.FIELD, credentials.ID.KIND.FIELD, settings.NAME, basic, ${SIGNED.join(' or ')}`
}

/** Signers of text that a request may contain, and the names that templates use for them. */
const TEXT_SIGNERS = Object.entries(SIGNING).filter(([, { signs }]) => signs === 'text')
const SIGNED = TEXT_SIGNERS.map(([name]) => `sign.${name}`)

function fieldFinding([kind, field, ...more]: readonly string[], declared: CredentialKind) {
  if (kind !== declared) return `is of another kind than the credential, which is ${declared}`
  const fields = Object.keys(AUTHENTICATION[declared].entries)
  if (field === undefined || !fields.includes(field)) return `is none of ${fields.join(', ')}`
  return more.length > 0 && field !== 'key' ? 'goes deeper than there is something' : null
}

/** Advice for systems that keep their sessions in cookies. */
const COOKIES =
  'capture a token from another header or from the body, and send it in a header of its own'

function placeFindings({ capture, expires, use }: Exchange): string[] {
  const pointers = { 'exchange.capture.json': capture, 'exchange.expires.json': expires }
  const wrong = Object.entries(pointers).flatMap(([at, place]) =>
    place && 'json' in place && !isPointer(place.json)
      ? [`${at}: found ${JSON.stringify(place.json)}; write a JSON Pointer such as /access_token`]
      : [],
  )
  const names = {
    'exchange.use.header': use.header,
    ...('header' in capture ? { 'exchange.capture.header': capture.header } : {}),
  }
  for (const [at, name] of Object.entries(names))
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      wrong.push(`${at}: ${JSON.stringify(name)} is not a header name`)
  if (isRefusedName(use.header.toLowerCase()))
    wrong.push(`exchange.use.header: no request may carry ${use.header}; ${COOKIES}`)
  if ('header' in capture && /^set-cookie2?$/i.test(capture.header))
    wrong.push(`exchange.capture.header: cookies of answers are not kept; ${COOKIES}`)
  if (use.value !== undefined && !use.value.includes('{exchange}'))
    wrong.push('exchange.use.value: does not hold {exchange}; write "Bearer {exchange}"')
  // Next to a letter it could not be recognised in an echo; see egress/blind/fill.ts.
  else if (/[A-Za-z0-9]\{exchange\}|\{exchange\}[A-Za-z0-9{]/.test(use.value ?? ''))
    wrong.push(
      'exchange.use.value: {exchange} has a letter or digit beside it; put a space between',
    )
  return wrong
}
