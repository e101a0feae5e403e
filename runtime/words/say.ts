/** How words are kept: key -> the same in every language. A text with something in it is a function. */
import type { Language } from './languages.ts'

export type WordTable = Readonly<Record<string, Readonly<Record<Language, unknown>>>>

/** The words of a table in one language. */
export type Words<T extends WordTable> = { readonly [K in keyof T]: T[K][Language] }

/** Takes one language out of a table. */
export const wordsIn = <T extends WordTable>(table: T, language: Language): Words<T> =>
  // The cast: `fromEntries` forgets which key has which type.
  Object.fromEntries(
    Object.entries(table).map(([key, texts]) => [key, texts[language]]),
  ) as Words<T>
