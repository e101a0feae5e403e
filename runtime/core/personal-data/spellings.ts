/**
 * The spellings of a name in regular expressions of PostgreSQL. With the locale C, `~*` and the classes know
 * only ASCII letters, and a database compares code points: it takes `é` and `e` with an accent for different
 * texts.
 */

const FORMS = ['NFC', 'NFD', 'NFKC', 'NFKD'] as const

/** Letters of the same case pair that neither `toLowerCase` nor `toUpperCase` returns. */
const FURTHER: Readonly<Record<string, string>> = { σ: 'ς', ß: 'ẞ' }

/**
 * Letters outside ASCII that continue a word, and marks that belong to the letter before them, as ranges of a
 * bracket expression: Latin, marks, Greek and Cyrillic.
 */
export const OTHER_LETTERS = String.raw`\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0300-\u052f\u1e00-\u1fff`

/**
 * Returns a regular expression that finds a text in each letter case and each Unicode normal form, in plain
 * text and in JSON.
 */
export const anySpelling = (text: string): string =>
  (text.normalize('NFC').match(/.\p{M}*/gsu) ?? []).map(anyOf).join('')

function anyOf(letter: string): string {
  const found = new Set([letter])
  // The loop also visits what it adds.
  for (const one of found) {
    const forms = FORMS.map((form) => one.normalize(form))
    for (const other of [one.toLowerCase(), one.toUpperCase(), ...forms]) found.add(other)
    if (Object.hasOwn(FURTHER, one)) found.add(FURTHER[one] ?? one)
  }
  const inJson = [...found].map((one) => JSON.stringify(one).slice(1, -1))
  const all = [...new Set([...found, ...inJson])].map(escaped)
  return all.length === 1 ? all.join('') : `(?:${all.join('|')})`
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
