/** Checks `oauth` in connector.json. Each finding names the field, the value found, and what to write. */

import { CAPABILITIES, isCapability } from '../../contract/capabilities/capabilities.ts'
import type { CredentialKind } from '../../contract/connector/authentication.ts'
import type { Manifest, OAuthDeclaration } from '../../contract/connector/manifest.ts'
import { OAUTH_FLOWS, performed } from '../../contract/connector/oauth.ts'
import { requestSchema } from '../../contract/connector/payload.ts'
import { secretFields } from '../../contract/connector/secrets.ts'
import { flatSchema } from '../../contract/connector/settings.ts'
import { isOneOf } from '../../contract/schema/one-of.ts'
import type { CheckEgress } from './check-egress.ts'

/** Kinds of credentials that a token endpoint returns. */
const KINDS: readonly CredentialKind[] = ['oauth', 'oauth_client_credentials']

type Place = { at: string; kind: CredentialKind | undefined; oauth: OAuthDeclaration }

/** Returns the findings for the OAuth declarations of a manifest. */
export function oauthFindings(manifest: Manifest, checkEgress: CheckEgress): string[] {
  const { oauth, credentials, authentication_schema } = manifest
  if (oauth && credentials)
    return ['oauth: this connector has several credentials; write it in the entry it belongs to']
  const places: Place[] = [
    ...(oauth ? [{ at: 'oauth', kind: authentication_schema?.kind, oauth }] : []),
    ...(credentials ?? []).flatMap(({ id, kind, oauth: own }) =>
      own ? [{ at: `credentials (${id}).oauth`, kind, oauth: own }] : [],
    ),
  ]
  const declared = places.flatMap((place) => [
    ...kindFinding(place),
    ...flowFindings(place, manifest),
    ...addressFindings(place, manifest, checkEgress),
    ...scopeFindings(place, manifest),
    ...capabilityFindings(place, manifest),
    ...requestFindings(place),
  ])
  return [...declared, ...handWrittenFindings(manifest)]
}

/**
 * Answers of authorization servers consist of secrets and enter the sandbox unchanged, including echoes of
 * the request. Code that calls one sees the secrets of its request.
 */
function handWrittenFindings({ capabilities, clear_secrets }: Manifest): string[] {
  const granted = clear_secrets.map(({ field }) => field)
  return Object.keys(capabilities).flatMap((name) => {
    if (!isCapability(name) || CAPABILITIES[name].group !== 'OAuth') return []
    const wanted = secretFields([], flatSchema({}), [requestSchema(name)])
    const missing = wanted
      .filter((field) => !granted.includes(field))
      .map((field) => ({ field, because: '...' }))
    return missing.length === 0
      ? []
      : [
          `capabilities.${name}: code that asks an authorization server itself sees secrets in clear, which the operator has to grant; add to "clear_secrets": ${JSON.stringify(missing)}, or leave it out, declare "oauth" and let the host perform it`,
        ]
  })
}

const kindFinding = ({ at, kind }: Place): string[] =>
  kind !== undefined && KINDS.includes(kind)
    ? []
    : [`${at}: its credential has the kind ${kind}; write ${KINDS.join(' or ')}`]

function flowFindings({ at, oauth: { flow } }: Place, { settings }: Manifest): string[] {
  if (typeof flow === 'string') return []
  const field = settings[flow.setting]
  if (field?.type !== 'string')
    return [`${at}.flow: settings.${flow.setting} is no declared string; declare it`]
  const known: readonly string[] = OAUTH_FLOWS
  return field.enum?.every((one) => known.includes(one))
    ? []
    : [
        `${at}.flow: settings.${flow.setting} must be one of a list; write "enum": ["${OAUTH_FLOWS.join('", "')}"]`,
      ]
}

function addressFindings(
  { at, oauth }: Place,
  { settings }: Manifest,
  checkEgress: CheckEgress,
): string[] {
  const { token_url, authorization_url } = oauth
  const needsConsent = performed(oauth).includes('get_authorization_url')
  return [
    ...addressFinding(token_url, `${at}.token_url`, settings, checkEgress),
    ...(authorization_url === undefined
      ? needsConsent
        ? [`${at}.authorization_url: missing; people give their consent there`]
        : []
      : addressFinding(authorization_url, `${at}.authorization_url`, settings, checkEgress)),
  ]
}

/** Checks an address that is requested as it is. It may have a query, which contains no settings. */
function addressFinding(
  template: string,
  at: string,
  settings: Manifest['settings'],
  checkEgress: CheckEgress,
): string[] {
  const end = template.indexOf('?')
  const base = end === -1 ? template : template.slice(0, end)
  const query = end === -1 ? '' : template.slice(end + 1)
  const finding = (what: string) => `${at}: ${JSON.stringify(template)} ${what}`
  return [
    ...checkEgress([{ url: base }], settings, at).map((text) => text.replace(`${at}[0].url`, at)),
    ...(base.includes('*') ? [finding('has a *: write the one address that is meant')] : []),
    ...(/[{}\s\\#]/.test(query)
      ? [finding('has a setting, white space or a # in its query: write fixed, encoded values')]
      : []),
  ]
}

const scopeFindings = ({ at, oauth: { scopes = {} } }: Place, { capabilities }: Manifest) =>
  Object.keys(scopes)
    .filter((name) => !Object.hasOwn(capabilities, name))
    .map((name) => `${at}.scopes.${name}: is no declared capability; declare it or leave it out`)

function capabilityFindings({ at, oauth }: Place, { capabilities }: Manifest): string[] {
  const flows = performed({ ...oauth, capabilities: undefined })
  const foreign = Object.keys(oauth.capabilities ?? {}).filter(
    (name) => isCapability(name) && !isOneOf(flows, name),
  )
  const doubled = performed(oauth).filter((name) => Object.hasOwn(capabilities, name))
  return [
    ...foreign.map((name) => `${at}.capabilities.${name}: its flow has no such capability`),
    ...doubled.map(
      (name) =>
        `capabilities.${name}: the host performs it; leave it out, or switch it off by ${at}.capabilities to write it yourself`,
    ),
  ]
}

const requestFindings = ({ at, oauth: { request } }: Place): string[] =>
  request?.method === 'GET' && request.data !== 'QUERY'
    ? [`${at}.request: GET has no body; write "data": "QUERY", or the method POST`]
    : []
