/**
 * The search of the documentation: an index of its sections, made once. It contains the pages of this package
 * and the operations of the interface, but nothing that a caller sends.
 */

import { MAX_QUERY } from '../documents/docs-top.ts'

/** A section that can be found. */
export type SearchEntry = {
  /** Address, such as `/docs/operate/tls#names`. */
  address: string
  /** Title of its page. */
  page: string
  /** Heading of the section. */
  heading: string
  text: string
}

type Indexed = SearchEntry & { lowerPage: string; lowerHeading: string; lowerText: string }
export type Index = readonly Indexed[]

/** A found section, with the text around the first match. */
export type Hit = Pick<SearchEntry, 'address' | 'page' | 'heading'> & { excerpt: string }

/** Longest query in characters, maximum number of its words, and maximum number of hits. */
export const SEARCH_LIMITS = { maxQuery: MAX_QUERY, maxWords: 8, maxHits: 30 } as const
/** Length of the excerpt of a hit, in characters. */
const EXCERPT = 200
/** Maximum number of occurrences of a word that count in one section. */
const MAX_COUNTED = 5
/** Score of a word in a heading, in the title of the page, and in the text. */
const WORTH = { heading: 20, page: 8, text: 1 } as const

export const indexOf = (entries: readonly SearchEntry[]): Index =>
  entries.map((entry) => ({
    ...entry,
    lowerPage: entry.page.toLowerCase(),
    lowerHeading: entry.heading.toLowerCase(),
    lowerText: entry.text.toLowerCase(),
  }))

/** Returns the words of a query. */
export const queryWords = (query: string): string[] => [
  ...new Set(
    query
      .slice(0, SEARCH_LIMITS.maxQuery)
      .toLowerCase()
      .split(/[\s"“”]+/)
      .filter((word) => word !== '')
      .slice(0, SEARCH_LIMITS.maxWords),
  ),
]

/** Returns the sections that contain all words, best first. */
export function search(index: Index, query: string): Hit[] {
  const words = queryWords(query)
  if (words.length === 0) return []
  return index
    .map((entry) => ({ entry, worth: worthOf(entry, words) }))
    .filter(({ worth }) => worth > 0)
    .sort((one, other) => other.worth - one.worth)
    .slice(0, SEARCH_LIMITS.maxHits)
    .map(({ entry }) => ({
      address: entry.address,
      page: entry.page,
      heading: entry.heading,
      excerpt: excerptOf(entry, words),
    }))
}

/** Returns the score of a section; 0 if a word is missing. */
function worthOf({ lowerPage, lowerHeading, lowerText }: Indexed, words: string[]): number {
  let worth = 0
  for (const word of words) {
    const own =
      (lowerHeading.includes(word) ? WORTH.heading : 0) +
      (lowerPage.includes(word) ? WORTH.page : 0) +
      timesIn(lowerText, word) * WORTH.text
    if (own === 0) return 0
    worth += own
  }
  return worth + (words.length > 0 && lowerHeading === words.join(' ') ? WORTH.heading : 0)
}

function timesIn(text: string, word: string): number {
  let times = 0
  for (let at = text.indexOf(word); at >= 0 && times < MAX_COUNTED; times += 1)
    at = text.indexOf(word, at + word.length)
  return times
}

function excerptOf({ text, lowerText }: Indexed, words: string[]): string {
  const found = words.map((word) => lowerText.indexOf(word)).filter((at) => at >= 0)
  const first = Math.min(...found, lowerText.length)
  const from = Math.max(0, first - EXCERPT / 4)
  const begin = from === 0 ? 0 : text.indexOf(' ', from) + 1
  const cut = text.slice(begin, begin + EXCERPT)
  return `${begin > 0 ? '… ' : ''}${cut}${begin + EXCERPT < text.length ? ' …' : ''}`
}
