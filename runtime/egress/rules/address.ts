/** URLs of a manifest with the settings of one call, by the rules of egress entries. */

import type { Fields } from '../../contract/connector/settings.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { resolveRules } from './resolve-rules.ts'
import type { Settings } from './server-url.ts'
import { compileRules } from './url-template.ts'

/** Returns the part before the query, which alone is matched by egress. */
export const withoutQuery = (template: string): string => template.replace(/\?.*$/s, '')

/**
 * Fills settings into a template that connectors/registry/check-oauth.ts or check-exchange.ts has accepted. A
 * setting's value cannot change the structure around it.
 *
 * @throws settings_invalid if a required setting is absent; egress_setting
 */
export function fillAddress(template: string, fields: Fields, settings: Settings): string {
  const [base = '', query] = split(template)
  const { rules, absent } = resolveRules(
    compileRules([{ url: base }], fields).rules,
    fields,
    settings,
  )
  const [rule] = rules
  if (!rule)
    throw new RuntimeError(
      'settings_invalid',
      `settings: ${absent.join(', ') || 'an address'} missing; the address to sign in at needs it`,
    )
  const { protocol, host, port, path } = rule
  const segments = path.map((one) => `/${encodeURIComponent(one ?? '')}`).join('')
  const end = base.endsWith('/') || segments === '' ? '/' : ''
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}${segments}${end}${query === undefined ? '' : `?${query}`}`
}

function split(template: string): [string, string | undefined] {
  const at = template.indexOf('?')
  return at === -1 ? [template, undefined] : [template.slice(0, at), template.slice(at + 1)]
}
