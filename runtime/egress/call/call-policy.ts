/** Policy of a call: selects the entries that apply, compiles them once, and fills in settings. */
import type { Manifest } from '../../contract/connector/manifest.ts'
import type { Policy } from '../rules/policy.ts'
import { resolveRules } from '../rules/resolve-rules.ts'
import { type CompiledRule, compileRules } from '../rules/url-template.ts'
import type { EgressCall } from './call.ts'

/**
 * Creates the function that returns a call's policy. A capability's own `egress` replaces the manifest's.
 * Entries are compiled once for each manifest and capability.
 *
 * The function throws egress_setting.
 */
export function createPolicyOf(): (call: EgressCall) => Policy {
  const known = new WeakMap<Manifest, Map<string, readonly CompiledRule[]>>()
  return ({ manifest, capability, level, settings, redact }) => {
    const byCapability = known.get(manifest) ?? new Map<string, readonly CompiledRule[]>()
    known.set(manifest, byCapability)
    const declared = Object.hasOwn(manifest.capabilities, capability)
      ? manifest.capabilities[capability]
      : undefined
    const compiled = byCapability.get(capability) ?? compileOf(manifest, capability, declared)
    byCapability.set(capability, compiled)
    const { rules, absent } = resolveRules(compiled, manifest.settings, settings)
    const readsWith = declared?.reads_with ?? []
    return { rules, absent, level, readsWith, ...(redact === undefined ? {} : { redact }) }
  }
}

function compileOf(
  { egress, settings }: Manifest,
  capability: string,
  declared: Manifest['capabilities'][string] | undefined,
): readonly CompiledRule[] {
  return declared?.egress === undefined
    ? compileRules(egress, settings).rules
    : compileRules(declared.egress, settings, `capabilities.${capability}.egress`).rules
}
