/** Moments, lengths of time and numbers of things, as a language writes them. All moments are UTC. */
import { LANGUAGES, type Language } from './languages.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** UNITS, longest first: from how many seconds on it is used, its length, its name. */
const UNITS = [
  [2 * DAY, DAY, 'day'],
  [2 * HOUR, HOUR, 'hour'],
  [0, MINUTE, 'minute'],
] as const

type Unit = (typeof UNITS)[number][2] | 'second'

/** One for each key: making a format of the language takes a hundred times as long as using it. */
function onceFor<K extends string, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>()
  return (key) => {
    const known = made.get(key)
    if (known !== undefined) return known
    const value = make(key)
    made.set(key, value)
    return value
  }
}

const countsOf = onceFor((language: Language) =>
  onceFor(
    (unit: Unit) =>
      new Intl.NumberFormat(LANGUAGES[language].tag, {
        ...{ style: 'unit', unit, unitDisplay: 'long', useGrouping: false },
      }),
  ),
)

const counted = (count: number, unit: Unit, language: Language): string =>
  countsOf(language)(unit).format(count)

/** A length in its largest unit that leaves two or more. */
function measured(seconds: number): { count: number; unit: Unit } {
  const [, length, unit] = UNITS.find(([from]) => seconds >= from) ?? UNITS[2]
  return { count: Math.max(1, Math.round(seconds / length)), unit }
}

/** `47 hours`, `3 days`, `1 minute`. */
export function lengthOf(seconds: number, language: Language): string {
  const { count, unit } = measured(seconds)
  return counted(count, unit, language)
}

/** How long something took: `1 second`, `90 seconds`; from two minutes on as a length. */
export const tookOf = (seconds: number, language: Language): string =>
  seconds < 2 * MINUTE
    ? counted(Math.max(1, Math.round(seconds)), 'second', language)
    : lengthOf(seconds, language)

/** How long ago something was: `3 hours ago`. */
export function agoOf(seconds: number, language: Language): string {
  const { count, unit } = measured(seconds)
  return agosOf(language).format(-count, unit)
}

const agosOf = onceFor(
  (language: Language) =>
    new Intl.RelativeTimeFormat(LANGUAGES[language].tag, { numeric: 'always' }),
)

/** A length behind `in`, `seit` or `vor`, which want another case in German: `3 Tagen`. */
export const lastingOf = (seconds: number, language: Language): string =>
  language === 'de' ? agoOf(seconds, language).replace(/^vor /, '') : lengthOf(seconds, language)

const FOR = {
  en: (length: string) => `for ${length}`,
  de: (length: string) => `für ${length}`,
} as const satisfies Record<Language, unknown>

const WITHOUT_END = {
  en: 'without an end',
  de: 'unbefristet',
} as const satisfies Record<Language, string>

/** A length as whole as it was chosen: `48 hours` were chosen as `2 days`. */
export function wholeLength(seconds: number, language: Language): string {
  for (const [unit, name] of [
    [DAY, 'day'],
    [HOUR, 'hour'],
  ] as const)
    if (seconds % unit === 0) return counted(seconds / unit, name, language)
  return lengthOf(seconds, language)
}

/** How long access is asked for, as whole as it was chosen; null for good. */
export const accessLength = (seconds: number | null | undefined, language: Language): string =>
  seconds === null || seconds === undefined
    ? WITHOUT_END[language]
    : FOR[language](wholeLength(seconds, language))

const ORDER = {
  en: (day: number, month: string) => `${day} ${month}`,
  de: (day: number, month: string) => `${day}. ${month}`,
} as const satisfies Record<Language, unknown>

// With the day: German writes the month alone without its dot.
const daysOf = onceFor(
  (language: Language) =>
    new Intl.DateTimeFormat(LANGUAGES[language].tag, {
      ...{ day: 'numeric', month: 'short', timeZone: 'UTC' },
    }),
)

/** `23 Nov`, with the year where it is another one. */
export function dayOf(at: Date, now: Date, language: Language): string {
  const parts = daysOf(language).formatToParts(at)
  const month = parts.find(({ type }) => type === 'month')?.value ?? ''
  const year = at.getUTCFullYear() === now.getUTCFullYear() ? '' : ` ${at.getUTCFullYear()}`
  return `${ORDER[language](at.getUTCDate(), month)}${year}`
}

/** `23 Nov 16:20 UTC`. */
export const momentOf = (at: Date, now: Date, language: Language): string =>
  `${dayOf(at, now, language)} ${at.toISOString().slice(11, 16)} UTC`

const pluralsOf = onceFor((language: Language) => {
  const { tag } = LANGUAGES[language]
  return {
    rules: new Intl.PluralRules(tag),
    numbers: new Intl.NumberFormat(tag, { useGrouping: false }),
  }
})

/** One or many of something. */
export function pluralOf(
  count: number,
  language: Language,
  words: { one: string; other: string },
): string {
  const { rules, numbers } = pluralsOf(language)
  const which = rules.select(count)
  return `${numbers.format(count)} ${which === 'one' ? words.one : words.other}`
}

/** The same for a language that is known: `counting('en')(2, 'line', 'lines')`. */
export const counting =
  (language: Language) =>
  (count: number, one: string, other: string): string =>
    pluralOf(count, language, { one, other })
