/** LANGUAGES: what pages and mail are written in. The first is taken where a person chose none. */

export const LANGUAGES = {
  en: { name: 'English', tag: 'en-US' },
  de: { name: 'Deutsch', tag: 'de-DE' },
} as const satisfies Record<string, { name: string; tag: string }>

export type Language = keyof typeof LANGUAGES
export const LANGUAGE_NAMES: readonly [Language, ...Language[]] = ['en', 'de']
export const DEFAULT_LANGUAGE: Language = LANGUAGE_NAMES[0]

/** Most entries of an `Accept-Language` header that are read. */
const MAX_ENTRIES = 20

/** The language that a browser wants most, of those that there are. */
export function languageOf(acceptLanguage: string | undefined): Language {
  const wanted = (acceptLanguage ?? '')
    .slice(0, 1000)
    .split(',', MAX_ENTRIES)
    .map((entry) => {
      const [tag = '', ...rest] = entry
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/)
      const weight = rest.find((one) => one.startsWith('q='))?.slice(2)
      return { tag, weight: weight === undefined ? 1 : Number(weight) || 0 }
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
  for (const { tag } of wanted) {
    const found = LANGUAGE_NAMES.find((name) => tag === name || tag.startsWith(`${name}-`))
    if (found) return found
    if (tag === '*') return DEFAULT_LANGUAGE
  }
  return DEFAULT_LANGUAGE
}
