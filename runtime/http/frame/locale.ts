/**
 * Language and appearance of a page: the texts of one language, its time formats, and the settings of the
 * browser.
 */
import type { Context } from 'hono'
import { html } from 'hono/html'
import { CONSOLE_WORDS, type ConsoleWords } from '../../words/console.ts'
import { LANGUAGE_NAMES, type Language, languageOf } from '../../words/languages.ts'
import { PAGE_WORDS, type PageWords } from '../../words/page-words.ts'
import { wordsIn } from '../../words/say.ts'
import * as time from '../../words/time.ts'
import type { Env } from '../edge/env.ts'
import { keptLook } from './cookies.ts'
import { type BrowserLook, USUAL_LOOK } from './look.ts'

type Markup = ReturnType<typeof html>

export type PageLocale = {
  language: Language
  /** Appearance in the browser. */
  look: BrowserLook
  w: PageWords
  /** Texts of the console, by page. */
  console: ConsoleWords
  /** Formats a date with its time of day. */
  moment(at: Date, now: Date): Markup
  /** Formats a date without its time of day. */
  day(at: Date, now: Date): Markup
  /** Formats how long something has lasted: `3 hours`. */
  age(at: Date, now: Date): Markup
  /** Formats the same length for use after `for` and `since`. */
  lasting(at: Date, now: Date): Markup
  /** Formats how long ago something was: `3 hours ago`. */
  ago(at: Date, now: Date): Markup
  length(seconds: number): string
  /** Formats a duration, in seconds if it is short. */
  took(seconds: number): string
  /** Formats a length for use after a preposition: `in 3 hours`. */
  lengthAfter(seconds: number): string
  /** Formats a length as it was chosen: `2 days`. */
  wholeLength(seconds: number): string
  /** Formats the requested length of access: `for 2 days`; null has no end. */
  accessLength(seconds: number | null | undefined): string
}

const timeTag = (at: Date, words: string): Markup =>
  html`<time datetime="${at.toISOString()}">${words}</time>`

const secondsSince = (at: Date, now: Date): number =>
  Math.max(0, (now.getTime() - at.getTime()) / 1000)

function makeLocale(language: Language): PageLocale {
  const since =
    (write: (seconds: number, language: Language) => string) =>
    (at: Date, now: Date): Markup =>
      timeTag(at, write(secondsSince(at, now), language))
  return {
    language,
    look: USUAL_LOOK,
    w: wordsIn(PAGE_WORDS, language),
    console: wordsIn(CONSOLE_WORDS, language),
    moment: (at, now) => timeTag(at, time.momentOf(at, now, language)),
    day: (at, now) => timeTag(at, time.dayOf(at, now, language)),
    age: since(time.lengthOf),
    lasting: since(time.lastingOf),
    ago: since(time.agoOf),
    length: (seconds) => time.lengthOf(seconds, language),
    took: (seconds) => time.tookOf(seconds, language),
    lengthAfter: (seconds) => time.lastingOf(seconds, language),
    wholeLength: (seconds) => time.wholeLength(seconds, language),
    accessLength: (seconds) => time.accessLength(seconds, language),
  }
}

/** TONGUES: language -> its texts and formats. */
const TONGUES = new Map(LANGUAGE_NAMES.map((name) => [name, makeLocale(name)]))

/** Returns the locale of a language, with the default appearance. */
export const localeOf = (language: Language): PageLocale =>
  TONGUES.get(language) ?? makeLocale(language)

/**
 * Returns the locale of a request: the language that the person chose, otherwise the browser's, and the
 * browser's appearance.
 */
export const localeFor = (c: Context<Env>): PageLocale => ({
  ...localeOf(c.get('language') ?? languageOf(c.req.header('accept-language'))),
  look: keptLook(c),
})
