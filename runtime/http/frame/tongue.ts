/** How a page speaks and looks: the words of one language, times as it writes them, and what its browser was set to. */
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

export type Tongue = {
  language: Language
  /** How pages look in the browser. */
  look: BrowserLook
  w: PageWords
  /** The words of the console, by page. */
  console: ConsoleWords
  /** A moment with its clock time. */
  moment(at: Date, now: Date): Markup
  /** The day alone. */
  day(at: Date, now: Date): Markup
  /** For how long something has lasted: `3 hours`. */
  age(at: Date, now: Date): Markup
  /** The same behind `for` and `since`. */
  lasting(at: Date, now: Date): Markup
  /** How long ago something was: `3 hours ago`. */
  ago(at: Date, now: Date): Markup
  length(seconds: number): string
  /** How long something took, in seconds where it was short. */
  took(seconds: number): string
  /** A length behind a preposition: `in 3 hours`. */
  lengthAfter(seconds: number): string
  /** A length as it was chosen: `2 days`. */
  wholeLength(seconds: number): string
  /** For how long access is asked: `for 2 days`; null for good. */
  accessLength(seconds: number | null | undefined): string
}

const timeTag = (at: Date, words: string): Markup =>
  html`<time datetime="${at.toISOString()}">${words}</time>`

const secondsSince = (at: Date, now: Date): number =>
  Math.max(0, (now.getTime() - at.getTime()) / 1000)

function makeTongue(language: Language): Tongue {
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

/** TONGUES: language -> how it speaks. */
const TONGUES = new Map(LANGUAGE_NAMES.map((name) => [name, makeTongue(name)]))

/** The tongue of a language, with the usual look. */
export const tongueOf = (language: Language): Tongue =>
  TONGUES.get(language) ?? makeTongue(language)

/** The person's language on this visit, where they chose none the browser's; and the browser's look. */
export const tongueFor = (c: Context<Env>): Tongue => ({
  ...tongueOf(c.get('language') ?? languageOf(c.req.header('accept-language'))),
  look: keptLook(c),
})
