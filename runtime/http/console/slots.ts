/** Time steps with and without calls, for charts and tables. */
import type { CallStep } from '../../contract/endpoints/call-minutes.ts'
import { BLAME_NAMES, percentile } from '../../contract/models/call-minutes.ts'
import type { Language } from '../../words/languages.ts'
import type { PageLocale } from '../frame/locale.ts'

export type Slot = { at: Date; step: CallStep | null }

/** Returns all steps of the last hours, oldest first, each with its calls or null. */
export function slotsOf(
  items: readonly CallStep[],
  now: Date,
  { hours, stepMinutes }: { hours: number; stepMinutes: number },
): Slot[] {
  const stepMs = stepMinutes * 60_000
  const known = new Map(items.map((one) => [Date.parse(one.at), one]))
  const last = Math.floor(now.getTime() / stepMs)
  const count = Math.ceil((hours * 60) / stepMinutes)
  return Array.from({ length: count }, (_, at) => {
    const ms = (last - count + 1 + at) * stepMs
    return { at: new Date(ms), step: known.get(ms) ?? null }
  })
}

export const failedOf = ({ errors }: Pick<CallStep, 'errors'>): number =>
  BLAME_NAMES.reduce((sum, name) => sum + errors[name], 0)

export type Totals = Pick<
  CallStep,
  'calls' | 'errors' | 'requests' | 'sent_bytes' | 'received_bytes'
> & {
  failed: number
  p95: number | null
}

/** Combines several steps. */
export function totalsOf(items: readonly CallStep[]): Totals {
  const sum = (of: (one: CallStep) => number): number =>
    items.reduce((all, one) => all + of(one), 0)
  const buckets = (items[0]?.buckets ?? []).map((_, at) => sum((one) => one.buckets[at] ?? 0))
  return {
    calls: sum(({ calls }) => calls),
    errors: {
      caller: sum(({ errors }) => errors.caller),
      connector: sum(({ errors }) => errors.connector),
      provider: sum(({ errors }) => errors.provider),
      operator: sum(({ errors }) => errors.operator),
      runtime: sum(({ errors }) => errors.runtime),
    },
    failed: sum(failedOf),
    requests: sum(({ requests }) => requests),
    sent_bytes: sum(({ sent_bytes }) => sent_bytes),
    received_bytes: sum(({ received_bytes }) => received_bytes),
    p95: percentile(buckets, 0.95),
  }
}

const two = (value: number): string => String(value).padStart(2, '0')

/** Formats a time in UTC: `14:30`. */
export const clockOf = (at: Date): string => `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`

/** Returns the labels below a chart: the time at every sixth hour. */
export const hourMarks = (slots: readonly Slot[]): Map<number, string> =>
  new Map(
    slots.flatMap(({ at }, place) =>
      at.getUTCHours() % 6 === 0 && at.getUTCMinutes() === 0 ? [[place, clockOf(at)] as const] : [],
    ),
  )

/** Formats a number with one decimal, without thousands separators. */
const tenths = (value: number, language: Language): string =>
  (Math.round(value * 10) / 10).toLocaleString(language, { useGrouping: false })

/** Formats a share as a percentage. The share of an empty whole is 0. */
export const share = (part: number, whole: number, { language }: PageLocale): string =>
  whole === 0 ? '0' : tenths((part / whole) * 100, language)

/** Formats a duration. */
export const milliseconds = (ms: number | null, { language }: PageLocale): string =>
  ms === null ? '–' : ms >= 10_000 ? `${Math.round(ms / 1000)} s` : `${tenths(ms, language)} ms`

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

/** Formats a number of bytes. */
export function bytesOf(bytes: number, { language }: PageLocale): string {
  const power = Math.min(UNITS.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3))
  return `${tenths(bytes / 1000 ** power, language)} ${UNITS[power]}`
}
