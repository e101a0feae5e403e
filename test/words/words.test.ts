/** The catalogue of texts is complete in every language; times and numbers follow the language. */
import { describe, expect, test } from 'vitest'
import { SETTINGS } from '../../runtime/config/config.ts'
import {
  MAIL_CHOICE_NAMES,
  PERSONAL_LANGUAGES,
} from '../../runtime/contract/models/personal-settings.ts'
import { CATALOGUE } from '../../runtime/words/catalogue.ts'
import { GERMAN_SETTINGS } from '../../runtime/words/console-settings.ts'
import { LANGUAGE_NAMES, LANGUAGES, languageOf } from '../../runtime/words/languages.ts'
import { MAIL_TEXTS, type Matter } from '../../runtime/words/mail.ts'
import { PERSONAL_WORDS } from '../../runtime/words/personal.ts'
import {
  accessLength,
  agoOf,
  dayOf,
  lastingOf,
  lengthOf,
  momentOf,
  pluralOf,
  tookOf,
} from '../../runtime/words/time.ts'

const now = new Date('2026-11-23T12:00:00Z')

describe('the catalogue', () => {
  test('has the languages that a person may choose', () => {
    expect(Object.keys(LANGUAGES)).toEqual([...LANGUAGE_NAMES])
    expect([...PERSONAL_LANGUAGES]).toEqual([...LANGUAGE_NAMES])
  })

  test('has a text for every key in every language', () => {
    const missing = Object.entries(CATALOGUE).flatMap(([table, words]) =>
      Object.entries(words).flatMap(([key, texts]) =>
        LANGUAGE_NAMES.filter((name) => {
          const text = (texts as Record<string, unknown>)[name]
          return text === undefined || text === ''
        }).map((name) => `${table}.${key}.${name}`),
      ),
    )
    expect(missing).toEqual([])
  })

  /** All texts without inserted values, with their paths. */
  const texts = (at: string, en: unknown, de: unknown): [at: string, en: string, de: unknown][] =>
    typeof en === 'string'
      ? [[at, en, de]]
      : typeof en === 'object' && en !== null
        ? Object.entries(en).flatMap(([name, one]) =>
            texts(`${at}.${name}`, one, (de as Record<string, unknown>)[name]),
          )
        : []

  test('has German texts that differ from the English ones', () => {
    const same = Object.entries(CATALOGUE).flatMap(([table, words]) =>
      Object.entries(words).flatMap(([key, { en, de }]) =>
        texts(`${table}.${key}`, en, de)
          .filter(([, english, german]) => english === german)
          .map(([, english]) => english),
      ),
    )
    expect([...new Set(same)].sort()).toEqual(SAME)
  })

  /** A thing has one name in each language; these are other names, which would suggest something else. */
  const OTHER_NAMES = {
    en: /catalogue|break-glass/i,
    de: /Konnektor|\bStores?\b|Kennw(ort|ört)|(?<!E-|\/)\bMails?\b|Mailversand|Verlauf der Installationen|Notfallberechtigung/,
  }

  test.each(LANGUAGE_NAMES)('uses one name for each thing: %s', (language) => {
    const textsIn = (text: unknown): string[] =>
      typeof text === 'object' && text !== null
        ? Object.values(text).flatMap(textsIn)
        : [String(text)]
    const texts = Object.values(CATALOGUE).flatMap((words) =>
      Object.values(words).flatMap((one: Record<string, unknown>) => textsIn(one[language])),
    )
    expect(texts.length).toBeGreaterThan(500)
    expect(texts.filter((text) => OTHER_NAMES[language].test(text))).toEqual([])
  })

  /** The number of arguments of a text, or null if it takes none; for a table of texts, that of each. */
  const taken = (text: unknown): unknown =>
    typeof text === 'function'
      ? text.length
      : typeof text === 'object' && text !== null
        ? Object.fromEntries(Object.entries(text).map(([name, one]) => [name, taken(one)]))
        : null

  test('has texts with the same arguments in every language', () => {
    for (const [table, words] of Object.entries(CATALOGUE))
      for (const [key, texts] of Object.entries(words))
        for (const name of LANGUAGE_NAMES)
          expect(taken(texts[name]), `${table}.${key}.${name}`).toEqual(taken(texts.en))
  })

  test('has a German meaning for every setting, and for nothing else', () => {
    expect([...GERMAN_SETTINGS.keys()].sort()).toEqual(Object.keys(SETTINGS).sort())
  })

  test('has a name and a meaning for every choice of mail', () => {
    for (const language of LANGUAGE_NAMES)
      expect(Object.keys(PERSONAL_WORDS.mail_choices[language])).toEqual(MAIL_CHOICE_NAMES)
  })
})

/** Words that are the same in both languages. */
const SAME: readonly string[] = [
  ...['Connector', 'Connectors', 'Generation', 'Host', 'Hosts', 'Keyway', 'Name', 'Person'],
  ...['Phase', 'Token', 'Version', 'Webhook', 'Webhooks', 'p95'],
]

describe('every text of a mail', () => {
  const nothing: Matter = {
    // The names of reviews and connectors are always known.
    ...{ thing: 'Reports', app: null, by: null, target: null, note: null },
    ...{ seconds: null, until: new Date('2026-11-30T16:20:00Z'), count: null, now },
    revoker: null,
  }
  const all: Matter = {
    ...{
      thing: 'Reports',
      app: 'Warehouse',
      by: 'Ada Test',
      target: 'Eve Test',
      note: 'Month end',
    },
    ...{ seconds: 28_800, until: new Date('2026-11-30T16:20:00Z'), count: 2, now },
    revoker: 'Bo Test',
  }

  test.each(LANGUAGE_NAMES)('is complete in %s, whichever values are known', (language) => {
    for (const row of Object.values(MAIL_TEXTS))
      for (const matter of [nothing, all]) {
        const { subject, lines } = row[language]
        const texts = [subject(matter), ...lines(matter)]
        for (const line of texts) expect(line).not.toMatch(/null|undefined|NaN|Invalid| {2}|\n/)
        expect(texts.length).toBeGreaterThan(1)
      }
  })

  test('names what, where, for how long and why', () => {
    expect(MAIL_TEXTS.asks.en.lines(all).join(' ')).toBe(
      'Ada Test asks for “Reports” in Warehouse for Eve Test, for 8 hours. “Month end” You decide. Open the page to see the grounds, and say yes or no there.',
    )
    expect(MAIL_TEXTS.asks.de.lines(all)[0]).toBe(
      'Ada Test beantragt „Reports“ in Warehouse für Eve Test, für 8 Stunden.',
    )
    expect(MAIL_TEXTS.asks.en.subject({ ...all, by: null })).toBe(
      'An access policy asks for “Reports” in Warehouse',
    )
    expect(MAIL_TEXTS.ends.de.subject(all)).toBe('Endet am 30. Nov.: „Reports“ in Warehouse')
  })
})

describe('the language of a browser', () => {
  test.each([
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['de-CH, fr;q=0.9', 'de'],
    ['fr, de;q=0.3, en;q=0.7', 'en'],
    ['en;q=0.2, de;q=0.8', 'de'],
    ['de;q=0, en;q=0.1', 'en'],
    ['fr, *;q=0.1', 'en'],
    ['dem', 'en'],
    [`${'x,'.repeat(5000)}de`, 'en'],
  ])('for the header %s is %s', (header, language) => {
    expect(languageOf(header)).toBe(language)
  })
})

describe('times and numbers', () => {
  test('are formatted by language', () => {
    const at = new Date('2026-11-03T16:20:00Z')
    expect(momentOf(at, now, 'en')).toBe('3 Nov 16:20 UTC')
    expect(momentOf(at, now, 'de')).toBe('3. Nov. 16:20 UTC')
    expect(dayOf(new Date('2025-09-01T00:00:00Z'), now, 'en')).toBe('1 Sep 2025')
    expect(lengthOf(47 * 3600, 'en')).toBe('47 hours')
    expect(lengthOf(3 * 86_400, 'de')).toBe('3 Tage')
    expect([20, 119 * 60, 7200, 172_800, 400 * 86_400].map((one) => lengthOf(one, 'en'))).toEqual([
      ...['1 minute', '119 minutes', '2 hours', '2 days', '400 days'],
    ])
    expect([0.2, 1, 90, 120].map((one) => tookOf(one, 'en'))).toEqual([
      ...['1 second', '1 second', '90 seconds', '2 minutes'],
    ])
    expect(tookOf(5, 'de')).toBe('5 Sekunden')
    expect(agoOf(3 * 86_400, 'en')).toBe('3 days ago')
    expect(agoOf(3 * 86_400, 'de')).toBe('vor 3 Tagen')
    expect(lastingOf(3 * 86_400, 'de')).toBe('3 Tagen')
  })

  test('express access lengths in whole units', () => {
    expect(accessLength(86_400, 'en')).toBe('for 1 day')
    expect(accessLength(90, 'en')).toBe('for 2 minutes')
    expect(accessLength(8 * 3600, 'de')).toBe('für 8 Stunden')
    expect(accessLength(null, 'en')).toBe('without an end')
    expect(accessLength(undefined, 'de')).toBe('unbefristet')
  })

  test('use the singular and the plural', () => {
    const words = { one: 'line', other: 'lines' }
    expect([0, 1, 2].map((n) => pluralOf(n, 'en', words))).toEqual(['0 lines', '1 line', '2 lines'])
  })
})
