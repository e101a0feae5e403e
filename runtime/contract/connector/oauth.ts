/**
 * Declared OAuth: the capabilities that a connector's `oauth` adds, by flow. The host performs them. If the
 * author switches one off, the connector may implement it itself.
 *
 * Source: connector-interface.md section 3.1; runtime/docs/authors/manifest.md.
 */

import { type CapabilityName, isCapability } from '../capabilities/capabilities.ts'
import { isOneOf } from '../schema/one-of.ts'
import { membersOf } from '../schema/record.ts'
import type { Manifest, OAuthDeclaration } from './manifest.ts'

/**
 * Parameters of requests to authorization servers that are secret at any length (RFC 6749, 7521, 7636, 8628).
 * `state` is not among them: it is of no use alone.
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
 * Returns the secret parameters of an OAuth capability's request: its own members, and those in its callback
 * address, both decoded and as written.
 */
export function secretParameters(request: unknown): string[] {
  const members = membersOf(request)
  const callback = members['redirect_uri_with_code']
  const own = SECRET_PARAMETERS.flatMap((name) => members[name] ?? [])
  const all = [...own, ...(typeof callback === 'string' ? inAddress(callback) : [])]
  return [...new Set(all.filter((one): one is string => typeof one === 'string' && one !== ''))]
}

/** Accepts text that is not a complete address, because an error may quote a part. */
function inAddress(address: string): string[] {
  return address.split(/[?&#]/).flatMap((pair) => {
    const [name, written] = pair.split(/=(.*)/s)
    if (written === undefined) return []
    const isSecret = isOneOf(SECRET_PARAMETERS, name)
    return isSecret ? [written, ...new URLSearchParams(pair).values()] : []
  })
}

/** OAuth flows. */
export const OAUTH_FLOWS = ['CODE_FLOW', 'CLIENT_CREDENTIALS'] as const
export type OAuthFlow = (typeof OAUTH_FLOWS)[number]

/** Capabilities of each flow. */
export const FLOW_CAPABILITIES = {
  CODE_FLOW: ['get_authorization_url', 'handle_authorization_callback', 'refresh_access_token'],
  CLIENT_CREDENTIALS: ['handle_client_credentials_request', 'refresh_access_token'],
} as const satisfies Record<OAuthFlow, readonly CapabilityName[]>

/** Capability that the host may perform. */
export type OAuthCapability = (typeof FLOW_CAPABILITIES)[OAuthFlow][number]

type Declaring = Pick<Manifest, 'oauth' | 'credentials' | 'capabilities'>

/**
 * Returns every declaration of a manifest with the id of its credential, which is null for a single
 * credential.
 */
export function oauthDeclarations({
  oauth,
  credentials = [],
}: Pick<Manifest, 'oauth' | 'credentials'>): { id: string | null; oauth: OAuthDeclaration }[] {
  return [
    ...(oauth ? [{ id: null, oauth }] : []),
    ...credentials.flatMap(({ id, oauth: own }) => (own ? [{ id, oauth: own }] : [])),
  ]
}

/** Returns the names of a connector's capabilities in alphabetical order, without `info` and `app_info`. */
export function servedCapabilities(manifest: Declaring): CapabilityName[] {
  const names = new Set([
    ...Object.keys(manifest.capabilities).filter(isCapability),
    ...oauthDeclarations(manifest).flatMap(({ oauth }) => performed(oauth)),
  ])
  return [...names].sort()
}

/** Reports whether the host performs a capability instead of the connector's code. */
export function hostPerforms(
  manifest: Declaring,
  capability: CapabilityName,
): capability is OAuthCapability {
  return (
    !Object.hasOwn(manifest.capabilities, capability) &&
    oauthDeclarations(manifest).some(({ oauth }) => isOneOf(performed(oauth), capability))
  )
}

/** Reports whether a connector has a capability, implemented by its code or performed by the host. */
export const offers = (manifest: Declaring, capability: CapabilityName): boolean =>
  Object.hasOwn(manifest.capabilities, capability) || hostPerforms(manifest, capability)

/** Returns the flow. If the tenant chooses it, returns the setting's default. */
export function flowOf({ flow }: OAuthDeclaration, settings: Manifest['settings']): OAuthFlow {
  if (typeof flow === 'string') return flow
  return settings[flow.setting]?.default === 'CLIENT_CREDENTIALS'
    ? 'CLIENT_CREDENTIALS'
    : 'CODE_FLOW'
}

/** Returns the capabilities of one declaration: those of both flows if the tenant chooses. */
export function performed({ flow, capabilities = {} }: OAuthDeclaration): OAuthCapability[] {
  const flows = typeof flow === 'string' ? [flow] : OAUTH_FLOWS
  const names = flows.flatMap((one): readonly OAuthCapability[] => FLOW_CAPABILITIES[one])
  return [...new Set(names)].filter((name) => capabilities[name] !== false)
}
