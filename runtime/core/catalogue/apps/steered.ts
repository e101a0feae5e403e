/**
 * Where settings can lead what a call holds. Every text of a manifest in which a setting stands is such a
 * place: an egress entry, of the manifest or of one capability; an address of an OAuth declaration; the
 * address, a header or the body of an exchange, which may say who the token is for. The manifest is walked
 * whole, so that a member that is added later is a place as well. What `ctx.sign` signs leaves only through
 * egress, and its audience comes from the credential or the code.
 */

import type { Manifest } from '../../../contract/connector/manifest.ts'
import { canonicalJson } from '../../../contract/schema/canonical-json.ts'

/** One place. `at` is where it stands in the manifest: `capabilities.list_accounts.egress.0.url`; no message shows it. */
type SteeredPlace = {
  at: string
  text: string
  /** The settings that lead it; `'all'` where the code chooses the host, by whichever setting. */
  settings: readonly string[] | 'all'
}

type Settings = Readonly<Record<string, unknown>>

const SETTING = /\{settings\.(\w+)\}/g

/** Every place of a manifest to which its settings can lead. */
export function steeredPlaces(manifest: Manifest): SteeredPlace[] {
  const places: SteeredPlace[] = []
  walk(manifest, '', (text, at) => {
    const settings = [...text.matchAll(SETTING)].map(([, name = '']) => name)
    if (isAddress(at) && hostOf(text).includes('*')) places.push({ at, text, settings: 'all' })
    else if (settings.length > 0) places.push({ at, text, settings: [...new Set(settings)] })
  })
  return places
}

/**
 * The places to which new settings lead and the ones before did not. A place whose settings are not all set
 * is no place: nothing is sent there.
 */
export function newlyReached(
  places: readonly SteeredPlace[],
  before: Settings,
  after: Settings,
): SteeredPlace[] {
  return places.filter((place) => {
    const next = filled(place, after)
    return next !== null && next !== filled(place, before)
  })
}

/** Tells two places apart, but not two spellings of one address. */
function filled({ at, text, settings }: SteeredPlace, values: Settings): string | null {
  const names = [...text.matchAll(SETTING)].map(([, name = '']) => name)
  if (names.some((name) => (values[name] ?? null) === null)) return null
  const plain = text.replaceAll(SETTING, (_all, name: string) => {
    const value = String(values[name])
    // As egress fills it in: a base address may end in a slash.
    return isAddress(at) ? value.replace(/\/$/, '') : value
  })
  const place = isAddress(at) ? (URL.parse(plain)?.href ?? plain).replace(/\/$/, '') : plain
  return settings === 'all' ? `${place} ${canonicalJson(values)}` : place
}

const isAddress = (at: string): boolean => /(^|\.)(\w+_)?url$/.test(at)

const hostOf = (address: string): string =>
  address.replace(/^[a-z]+:\/\//i, '').replace(/\/.*$/s, '')

/** No deeper than JSON of a manifest may be: it was parsed and judged before. */
function walk(value: unknown, at: string, found: (text: string, at: string) => void): void {
  if (typeof value === 'string') found(value, at)
  else if (typeof value === 'object' && value !== null)
    for (const [name, one] of Object.entries(value))
      walk(one, at === '' ? name : `${at}.${name}`, found)
}
