/** Selects the OAuth declaration of a call, and checks that its flow has the capability. */

import type { Manifest, OAuthDeclaration } from '../../contract/connector/manifest.ts'
import {
  FLOW_CAPABILITIES,
  OAUTH_FLOWS,
  type OAuthCapability,
  type OAuthFlow,
  oauthDeclarations,
} from '../../contract/connector/oauth.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'

type Asked = {
  manifest: Manifest
  capability: OAuthCapability
  settings: Readonly<Record<string, unknown>>
  credentialId: string | null
}

/**
 * Returns the declaration that a call selects: the only one, or that of `credential_id`
 * (connector-interface.md section 3.1).
 *
 * @throws request_invalid, settings_invalid, capability_missing
 */
export function declarationFor(asked: Asked): OAuthDeclaration {
  const { manifest, capability, settings, credentialId } = asked
  const declaration = selected(manifest, credentialId)
  const flow = chosenFlow(declaration, settings)
  const has: readonly OAuthCapability[] = FLOW_CAPABILITIES[flow]
  if (!has.includes(capability) || declaration.capabilities?.[capability] === false)
    throw new RuntimeError(
      'capability_missing',
      `the flow ${flow} of ${manifest.id} has no ${capability}; it has ${has.join(', ')}`,
    )
  return declaration
}

function selected(manifest: Manifest, credentialId: string | null): OAuthDeclaration {
  const all = oauthDeclarations(manifest)
  const [first, ...others] = all
  if (first?.id === null) return first.oauth
  const ids = all.map(({ id }) => id).join(', ')
  const found = all.find(({ id }) => id === credentialId)
  if (found) return found.oauth
  if (credentialId !== null)
    throw new RuntimeError(
      'request_invalid',
      `request.credential_id: ${JSON.stringify(credentialId.slice(0, 64))} has no OAuth here; write one of ${ids}`,
    )
  if (first && others.length === 0) return first.oauth
  throw new RuntimeError('request_invalid', `request.credential_id: missing; write one of ${ids}`)
}

function chosenFlow({ flow }: OAuthDeclaration, settings: Asked['settings']): OAuthFlow {
  if (typeof flow === 'string') return flow
  const value = settings[flow.setting] ?? 'CODE_FLOW'
  const known = OAUTH_FLOWS.find((one) => one === value)
  if (known) return known
  throw new RuntimeError(
    'settings_invalid',
    `settings.${flow.setting}: is no flow; write ${OAUTH_FLOWS.join(' or ')}`,
  )
}
