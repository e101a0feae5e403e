/** Which capabilities a connector has: those it declares, and the OAuth ones that come by declaration. */
import { type CapabilityName, isCapability } from '../../contract/capabilities.ts'
import type { Manifest } from '../../contract/manifest.ts'

type OAuthDeclaration = NonNullable<Manifest['oauth']>
export type OAuthFlow = 'CODE_FLOW' | 'CLIENT_CREDENTIALS'

/** connector-interface.md section 3.1: what each flow registers. */
const FLOW_CAPABILITIES = {
  CODE_FLOW: ['get_authorization_url', 'handle_authorization_callback', 'refresh_access_token'],
  CLIENT_CREDENTIALS: ['handle_client_credentials_request', 'refresh_access_token'],
} as const satisfies Record<OAuthFlow, readonly CapabilityName[]>

/** The names of a connector's capabilities in alphabetical order; `info` and `app_info` are not among them. */
export function servedCapabilities(manifest: Manifest): CapabilityName[] {
  const { oauth, credentials = [], capabilities } = manifest
  const declarations = [oauth, ...credentials.map((one) => one.oauth)].filter(
    (one) => one !== undefined,
  )
  const names = new Set([
    ...Object.keys(capabilities).filter(isCapability),
    ...declarations.flatMap(declaredCapabilities),
  ])
  return [...names].sort()
}

/** The flow; where a tenant chooses it, the setting's default. */
export function flowOf({ flow }: OAuthDeclaration, settings: Manifest['settings']): OAuthFlow {
  if (typeof flow === 'string') return flow
  return settings[flow.setting]?.default === 'CLIENT_CREDENTIALS'
    ? 'CLIENT_CREDENTIALS'
    : 'CODE_FLOW'
}

function declaredCapabilities({ flow, capabilities = {} }: OAuthDeclaration): CapabilityName[] {
  const flows = typeof flow === 'string' ? [flow] : (Object.keys(FLOW_CAPABILITIES) as OAuthFlow[])
  const names = flows.flatMap(
    (one): readonly (keyof typeof capabilities)[] => FLOW_CAPABILITIES[one],
  )
  return names.filter((name) => capabilities[name] !== false)
}
