/**
 * OAuth by declaration: which capabilities a connector's `oauth` brings, and in which flow. The host
 * performs them; where the author switches one off, the connector may write it itself.
 *
 * Source: connector-interface.md section 3.1; runtime/docs/authors/manifest.md.
 */

import { type CapabilityName, isCapability } from '../capabilities/capabilities.ts'
import { isOneOf } from '../schema/one-of.ts'
import { membersOf } from '../schema/record.ts'
import type { Manifest, OAuthDeclaration } from './manifest.ts'

/**
 * Parameters of requests to authorization servers that are secret at any length (RFC 6749, 7521, 7636, 8628).
 * `state` is none: it is of no use alone.
 */
const SECRET_PARAMETERS = [
  'assertion',
  'client_assertion',
  'client_secret',
  'code',
  'code_verifier',
  'device_code',
  'password',
  'refresh_token',
  'subject_token',
] as const

/**
 * The secret parameters of a request of an OAuth capability: its own members, and what stands in its callback
 * address, decoded and as it is written there.
 */
export function secretParameters(request: unknown): string[] {
  const members = membersOf(request)
  const callback = members['redirect_uri_with_code']
  const own = SECRET_PARAMETERS.flatMap((name) => members[name] ?? [])
  const all = [...own, ...(typeof callback === 'string' ? inAddress(callback) : [])]
  return [...new Set(all.filter((one): one is string => typeof one === 'string' && one !== ''))]
}

/** Also of a text that is no whole address: an error may quote it. */
function inAddress(address: string): string[] {
  return address.split(/[?&#]/).flatMap((pair) => {
    const [name, written] = pair.split(/=(.*)/s)
    if (written === undefined) return []
    const isSecret = isOneOf(SECRET_PARAMETERS, name)
    return isSecret ? [written, ...new URLSearchParams(pair).values()] : []
  })
}

export const OAUTH_FLOWS = ['CODE_FLOW', 'CLIENT_CREDENTIALS'] as const
export type OAuthFlow = (typeof OAUTH_FLOWS)[number]

/** What each flow registers. */
export const FLOW_CAPABILITIES = {
  CODE_FLOW: ['get_authorization_url', 'handle_authorization_callback', 'refresh_access_token'],
  CLIENT_CREDENTIALS: ['handle_client_credentials_request', 'refresh_access_token'],
} as const satisfies Record<OAuthFlow, readonly CapabilityName[]>

export type OAuthCapability = (typeof FLOW_CAPABILITIES)[OAuthFlow][number]

type Declaring = Pick<Manifest, 'oauth' | 'credentials' | 'capabilities'>

/** Every declaration of a manifest, with the credential that it belongs to; null for a single one. */
export function oauthDeclarations({
  oauth,
  credentials = [],
}: Pick<Manifest, 'oauth' | 'credentials'>): { id: string | null; oauth: OAuthDeclaration }[] {
  return [
    ...(oauth ? [{ id: null, oauth }] : []),
    ...credentials.flatMap(({ id, oauth: own }) => (own ? [{ id, oauth: own }] : [])),
  ]
}

/** The names of a connector's capabilities in alphabetical order; `info` and `app_info` are not among them. */
export function servedCapabilities(manifest: Declaring): CapabilityName[] {
  const names = new Set([
    ...Object.keys(manifest.capabilities).filter(isCapability),
    ...oauthDeclarations(manifest).flatMap(({ oauth }) => performed(oauth)),
  ])
  return [...names].sort()
}

/** Whether the host carries this capability out, and not the connector's code. */
export function hostPerforms(
  manifest: Declaring,
  capability: CapabilityName,
): capability is OAuthCapability {
  return (
    !Object.hasOwn(manifest.capabilities, capability) &&
    oauthDeclarations(manifest).some(({ oauth }) => isOneOf(performed(oauth), capability))
  )
}

/** Whether a connector has a capability, by its code or by the host. */
export const offers = (manifest: Declaring, capability: CapabilityName): boolean =>
  Object.hasOwn(manifest.capabilities, capability) || hostPerforms(manifest, capability)

/** The flow; where a tenant chooses it, the setting's default. */
export function flowOf({ flow }: OAuthDeclaration, settings: Manifest['settings']): OAuthFlow {
  if (typeof flow === 'string') return flow
  return settings[flow.setting]?.default === 'CLIENT_CREDENTIALS'
    ? 'CLIENT_CREDENTIALS'
    : 'CODE_FLOW'
}

/** The capabilities of one declaration: of both flows where a tenant chooses. */
export function performed({ flow, capabilities = {} }: OAuthDeclaration): OAuthCapability[] {
  const flows = typeof flow === 'string' ? [flow] : OAUTH_FLOWS
  const names = flows.flatMap((one): readonly OAuthCapability[] => FLOW_CAPABILITIES[one])
  return [...new Set(names)].filter((name) => capabilities[name] !== false)
}
