/** How words are kept: key -> the same in every language. A text with something in it is a function. */
import type { Language } from './languages.ts'

export type WordTable = Readonly<Record<string, Readonly<Record<Language, unknown>>>>

/** The words of a table in one language. */
export type Words<T extends WordTable> = { readonly [K in keyof T]: T[K][Language] }

/** What both languages say of one page: every word that English has, German has too, and takes the same. */
export const inBoth = <W>(words: { en: W; de: NoInfer<W> }): Record<Language, W> => words

/** Takes one language out of a table. */
export const wordsIn = <T extends WordTable>(table: T, language: Language): Words<T> =>
  // The cast: `fromEntries` forgets which key has which type.
  Object.fromEntries(
    Object.entries(table).map(([key, texts]) => [key, texts[language]]),
  ) as Words<T>
