/** Where in a value something is, as people write it: `egress[0].url`. */
import type * as v from 'valibot'

/** The place that keys lead to: numbers are positions in lists. */
export const placeAt = (keys: readonly unknown[]): string =>
  keys.reduce<string>((at, key) => {
    if (typeof key === 'number') return `${at}[${key}]`
    return at === '' ? String(key) : `${at}.${key}`
  }, '')

/** The place of an issue; empty for the value itself. */
export const placeOfIssue = ({ path }: Pick<v.BaseIssue<unknown>, 'path'>): string =>
  placeAt((path ?? []).map(({ key }) => key))
