/**
 * Places to which settings can direct the content of a call. Every text in a manifest that contains a setting
 * is such a place: an egress entry, of the manifest or of one capability; an address of an OAuth declaration;
 * the address, a header or the body of an exchange, which may name the audience of the token. The whole
 * manifest is searched, so that members added later are included. Content signed by `ctx.sign` leaves only
 * through egress, and its audience comes from the credential or the code.
 */

import type { Manifest } from '../../../contract/connector/manifest.ts'
import { canonicalJson } from '../../../contract/schema/canonical-json.ts'

/**
 * A place. `at` is its path in the manifest, such as `capabilities.list_accounts.egress.0.url`; no message
 * shows it.
 */
type SettingTarget = {
  at: string
  text: string
  /** Settings that determine it, or `'all'` if the code chooses the host by any of them. */
  settings: readonly string[] | 'all'
}

type Settings = Readonly<Record<string, unknown>>

const SETTING = /\{settings\.(\w+)\}/g

/** Returns every place of a manifest that its settings determine. */
export function settingTargets(manifest: Manifest): SettingTarget[] {
  const places: SettingTarget[] = []
  walk(manifest, '', (text, at) => {
    const settings = [...text.matchAll(SETTING)].map(([, name = '']) => name)
    if (isAddress(at) && hostOf(text).includes('*')) places.push({ at, text, settings: 'all' })
    else if (settings.length > 0) places.push({ at, text, settings: [...new Set(settings)] })
  })
  return places
}

/**
 * Returns the places that new settings reach and the previous ones did not. A place whose settings are not
 * all set does not count: nothing is sent there.
 */
export function newlyReached(
  places: readonly SettingTarget[],
  before: Settings,
  after: Settings,
): SettingTarget[] {
  return places.filter((place) => {
    const next = filled(place, after)
    return next !== null && next !== filled(place, before)
  })
}

/**
 * Returns a place with its settings filled in, or null if one is not set. Two spellings of an address give
 * one result.
 */
function filled({ at, text, settings }: SettingTarget, values: Settings): string | null {
  const names = [...text.matchAll(SETTING)].map(([, name = '']) => name)
  if (names.some((name) => (values[name] ?? null) === null)) return null
  const plain = text.replaceAll(SETTING, (_all, name: string) => {
    const value = String(values[name])
    // Like egress, which accepts a base address with a trailing slash.
    return isAddress(at) ? value.replace(/\/$/, '') : value
  })
  const place = isAddress(at) ? (URL.parse(plain)?.href ?? plain).replace(/\/$/, '') : plain
  return settings === 'all' ? `${place} ${canonicalJson(values)}` : place
}

const isAddress = (at: string): boolean => /(^|\.)(\w+_)?url$/.test(at)

const hostOf = (address: string): string =>
  address.replace(/^[a-z]+:\/\//i, '').replace(/\/.*$/s, '')

/** Calls `found` for every text. The depth is limited: the manifest was parsed and validated before. */
function walk(value: unknown, at: string, found: (text: string, at: string) => void): void {
  if (typeof value === 'string') found(value, at)
  else if (typeof value === 'object' && value !== null)
    for (const [name, one] of Object.entries(value))
      walk(one, at === '' ? name : `${at}.${name}`, found)
}
