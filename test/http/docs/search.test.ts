/** The search of the documentation. */
import { expect, test } from 'vitest'
import { indexOf, queryWords, SEARCH_LIMITS, search } from '../../../runtime/http/docs/search.ts'

const entry = (heading: string, text: string, page = 'A page') => ({
  address: `/docs/${heading}`,
  page,
  heading,
  text,
})
const headings = (index: ReturnType<typeof indexOf>, query: string) =>
  search(index, query).map(({ heading }) => heading)

test('finds sections that contain all words, in any case', () => {
  const index = indexOf([
    entry('one', 'Rotate the Secret'),
    entry('two', 'Rotate the log'),
    entry('three', 'keep the secret'),
  ])
  expect(headings(index, 'SECRET rotate')).toEqual(['one'])
  expect(headings(index, 'nothing of it')).toEqual([])
})

test('ranks headings before page titles, and page titles before text', () => {
  const index = indexOf([
    entry('text', 'a backup'),
    entry('page', 'x', 'Backup and restore'),
    entry('backup', 'x'),
  ])
  expect(headings(index, 'backup')).toEqual(['backup', 'page', 'text'])
})

test('a repeated word does not outrank a heading', () => {
  const index = indexOf([entry('other', 'backup '.repeat(1000)), entry('backup', 'x')])
  expect(headings(index, 'backup')[0]).toBe('backup')
})

test('shows the text around the first word', () => {
  const index = indexOf([entry('one', `${'before '.repeat(100)}needle${' behind'.repeat(100)}`)])
  const [hit] = search(index, 'needle')
  expect(hit?.excerpt).toMatch(/^… (before )+needle( behind)+( \w+)? …$/)
  expect(hit?.excerpt.length).toBeLessThan(220)
})

test('a query and its hits are bounded', () => {
  const { maxHits, maxQuery, maxWords } = SEARCH_LIMITS
  const many = indexOf(Array.from({ length: 100 }, (_, at) => entry(`h${at}`, 'same')))
  expect(search(many, 'same')).toHaveLength(maxHits)
  expect(queryWords('x'.repeat(10_000))).toEqual(['x'.repeat(maxQuery)])
  expect(queryWords('a b c d e f g h i j k')).toHaveLength(maxWords)
})

test.each(['', '   ', '""'])('nothing is found for %j', (query) => {
  expect(search(indexOf([entry('one', 'text')]), query)).toEqual([])
})
