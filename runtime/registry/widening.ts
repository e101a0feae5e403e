/** What a new manifest may reach that the old one could not, in words. */
import { CAPABILITIES, isCapability } from '../contract/capabilities.ts'
import { type EgressRule, type Manifest, METHODS } from '../contract/manifest.ts'

/**
 * Every method and address of `next` that `before` does not have for the same capability, with the same
 * bounds on the settings in it and for no more secrets; and every secret that is to be readable. A
 * capability that is new counts with all that it may reach.
 */
export function widening(before: Manifest, next: Manifest): string[] {
  const had = reach(before)
  const wants = [...reach(next)].filter(([one]) => !had.has(one))
  return [...new Set(wants.map(([, words]) => words))]
}

/** What a manifest may reach: all that matters of each, and how to say it. */
function reach({
  capabilities,
  egress,
  exchange,
  settings,
  clear_secrets,
}: Manifest): Map<string, string> {
  const all = new Map<string, string>()
  for (const [name, declared] of Object.entries(capabilities)) {
    const level = isCapability(name) ? CAPABILITIES[name].level : 'read'
    const rules: readonly EgressRule[] = declared.egress ?? egress
    for (const { url, methods, secrets } of rules) {
      const usual =
        level === 'write' ? METHODS : (['GET', 'HEAD', ...(declared.reads_with ?? [])] as const)
      const bounds = boundsIn(url, settings)
      // Without a list every secret may go there; with one, each of it.
      for (const secret of secrets ?? ['all secrets'])
        for (const method of methods ?? usual)
          all.set(JSON.stringify([name, method, url, bounds, secret]), `${method} ${url}`)
    }
  }
  if (exchange) {
    const { method, url } = exchange.request
    const bounds = boundsIn(url, settings)
    all.set(JSON.stringify(['exchange', method, url, bounds]), `${method} ${url}`)
  }
  for (const { field } of clear_secrets) all.set(JSON.stringify(field), `${field} in clear`)
  return all
}

/** What bounds the settings that stand in an address: a looser pattern reaches more. */
function boundsIn(url: string, settings: Manifest['settings']): unknown[] {
  return [...url.matchAll(/\{settings\.([a-z0-9_]+)\}/g)].map(([, name = '']) => {
    const field = settings[name]
    return field?.type === 'string' ? [field.pattern, field.format, field.enum] : field?.type
  })
}
