/** What a new manifest may reach that the old one could not, in words. */
import { CAPABILITIES, isCapability } from '../contract/capabilities.ts'
import { type EgressRule, type Manifest, METHODS } from '../contract/manifest.ts'

/**
 * Every method and address of `next` that `before` does not have for the same capability. A capability
 * that is new counts with all that it may reach.
 */
export function widening(before: Manifest, next: Manifest): string[] {
  const had = reach(before)
  const wants = [...reach(next)].filter((one) => !had.has(one))
  return [...new Set(wants.map((one) => one.slice(one.indexOf(' ') + 1)))]
}

/** `capability METHOD url` of everything a manifest may reach. */
function reach({ capabilities, egress }: Manifest): Set<string> {
  const all = new Set<string>()
  for (const [name, declared] of Object.entries(capabilities)) {
    const level = isCapability(name) ? CAPABILITIES[name].level : 'read'
    const rules: readonly EgressRule[] = declared.egress ?? egress
    for (const { url, methods } of rules) {
      const usual =
        level === 'write' ? METHODS : (['GET', 'HEAD', ...(declared.reads_with ?? [])] as const)
      for (const method of methods ?? usual) all.add(`${name} ${method} ${url}`)
    }
  }
  return all
}
