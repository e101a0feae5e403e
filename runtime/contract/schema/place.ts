/** Locations within a value, in the usual notation: `egress[0].url`. */
import type * as v from 'valibot'

/** Returns the location that a path of keys leads to. Numbers are positions in lists. */
export const placeAt = (keys: readonly unknown[]): string =>
  keys.reduce<string>((at, key) => {
    if (typeof key === 'number') return `${at}[${key}]`
    return at === '' ? String(key) : `${at}.${key}`
  }, '')

/** Returns the location of an issue; empty for the value itself. */
export const placeOfIssue = ({ path }: Pick<v.BaseIssue<unknown>, 'path'>): string =>
  placeAt((path ?? []).map(({ key }) => key))
