/**
 * Parses filters (RFC 7644 section 3.4.2.2) into a tree. Length, number of terms and depth are limited. Pure:
 * the meaning of a path is decided where the tree is evaluated.
 */
import { SCIM_LIMITS } from '../../contract/models/scim.ts'
import { ScimError } from './problem.ts'

const OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const
export type FilterOperator = (typeof OPERATORS)[number]
export type FilterValue = string | number | boolean | null

export type Filter =
  | { kind: 'and' | 'or'; left: Filter; right: Filter }
  | { kind: 'not'; inner: Filter }
  | { kind: 'compare'; path: string; operator: FilterOperator; value: FilterValue }
  | { kind: 'present'; path: string }
  /** `emails[type eq "work"]`: paths in `inner` are relative to `path`. */
  | { kind: 'within'; path: string; inner: Filter }

type Token = { kind: 'word' | 'string' | 'number' | 'sign' | 'end'; text: string; at: number }

/**
 * A URN contains dots and colons too: `urn:ietf:params:scim:schemas:core:2.0:User:name.givenName`. A word
 * that starts with a dot follows `]`.
 */
const TOKENS =
  /\s*(?:(\.?[A-Za-z$][\w$.:-]*)|("(?:[^"\\\u0000-\u001f]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([()[\]]))/y

/**
 * Parses a filter.
 *
 * @throws ScimError `invalidFilter`, with the position of the error
 */
export function parseFilter(text: string): Filter {
  const { filterLength } = SCIM_LIMITS
  if (text.length > filterLength)
    throw new ScimError(
      'bad_request',
      'invalidFilter',
      `The filter has ${text.length} characters; at most ${filterLength} are allowed: split it into several requests`,
    )
  const reader = readerOf(tokensOf(text))
  const filter = either(reader, 0)
  const rest = reader.peek()
  if (rest.kind !== 'end') throw wrong(rest, 'the end, "and" or "or"')
  return filter
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  TOKENS.lastIndex = 0
  const end = text.trimEnd().length
  while (TOKENS.lastIndex < end) {
    const at = TOKENS.lastIndex
    const found = TOKENS.exec(text)
    if (!found) throw wrong({ at: at + (/^\s*/.exec(text.slice(at))?.[0].length ?? 0) }, 'a filter')
    const [whole, word, string, number, sign = ''] = found
    const kind =
      word !== undefined ? 'word' : string !== undefined ? 'string' : number ? 'number' : 'sign'
    const body = word ?? string ?? number ?? sign
    tokens.push({ kind, text: body, at: at + whole.length - body.length })
  }
  return [...tokens, { kind: 'end', text: '', at: end }]
}

const wrong = ({ at }: Pick<Token, 'at'>, expected: string): ScimError =>
  new ScimError(
    'bad_request',
    'invalidFilter',
    `The filter cannot be read at character ${at + 1}: expected ${expected}. Example: userName eq "ada@example.com"`,
  )

type Reader = { peek(): Token; next(): Token; count(): void }

function readerOf(tokens: readonly Token[]): Reader {
  let place = 0
  let terms = 0
  const end: Token = tokens.at(-1) ?? { kind: 'end', text: '', at: 0 }
  const peek = () => tokens[place] ?? end
  return {
    peek,
    next() {
      const token = peek()
      place += 1
      return token
    },
    count() {
      terms += 1
      if (terms > SCIM_LIMITS.filterTerms)
        throw new ScimError(
          'bad_request',
          'invalidFilter',
          `The filter has more than ${SCIM_LIMITS.filterTerms} comparisons: split it into several requests`,
        )
    },
  }
}

const isWord = (token: Token, word: string): boolean =>
  token.kind === 'word' && token.text.toLowerCase() === word

const chain =
  (word: 'and' | 'or', below: (reader: Reader, depth: number) => Filter) =>
  (reader: Reader, depth: number): Filter => {
    let left = below(reader, depth)
    while (isWord(reader.peek(), word)) {
      reader.next()
      left = { kind: word, left, right: below(reader, depth) }
    }
    return left
  }
// `and` has higher precedence than `or`.
const both = chain('and', single)
const either = chain('or', both)

function single(reader: Reader, depth: number): Filter {
  const token = reader.next()
  if (depth >= SCIM_LIMITS.filterDepth)
    throw wrong(token, `at most ${SCIM_LIMITS.filterDepth} levels of brackets`)
  if (token.kind === 'sign' && token.text === '(') return closed(reader, depth, ')')
  if (token.kind !== 'word' || token.text.startsWith('.'))
    throw wrong(token, 'the name of an attribute')
  const after = reader.peek()
  if (isWord(token, 'not') && after.kind === 'sign' && after.text === '(') {
    reader.next()
    return { kind: 'not', inner: closed(reader, depth, ')') }
  }
  const path = token.text
  if (after.kind === 'sign' && after.text === '[') {
    reader.next()
    return { kind: 'within', path, inner: withPart(reader, closed(reader, depth, ']')) }
  }
  return compared(reader, path)
}

/**
 * Parses the suffix of `emails[type eq "work"].value eq "a@b"`, which is not in the RFC. Entra ID sends it
 * when it matches people by address.
 */
function withPart(reader: Reader, inner: Filter): Filter {
  const part = reader.peek()
  if (part.kind !== 'word' || !part.text.startsWith('.')) return inner
  reader.next()
  return { kind: 'and', left: inner, right: compared(reader, part.text.slice(1)) }
}

function compared(reader: Reader, path: string): Filter {
  reader.count()
  const word = reader.next()
  if (isWord(word, 'pr')) return { kind: 'present', path }
  const operator = OPERATORS.find((one) => isWord(word, one))
  if (!operator) throw wrong(word, `one of ${OPERATORS.join(', ')} and pr`)
  return { kind: 'compare', path, operator, value: literalOf(reader.next()) }
}

function closed(reader: Reader, depth: number, sign: ')' | ']'): Filter {
  const inner = either(reader, depth + 1)
  const end = reader.next()
  if (end.kind !== 'sign' || end.text !== sign) throw wrong(end, `"${sign}"`)
  return inner
}

const WORDS: Readonly<Record<string, FilterValue>> = { true: true, false: false, null: null }

function literalOf(token: Token): FilterValue {
  if (token.kind === 'number') return Number(token.text)
  const word = token.text.toLowerCase()
  if (token.kind === 'word' && Object.hasOwn(WORDS, word)) return WORDS[word] ?? null
  if (token.kind !== 'string')
    throw wrong(token, 'a value: text in quotes, a number, true or false')
  try {
    const text: unknown = JSON.parse(token.text)
    // PostgreSQL cannot store NUL, and an unpaired surrogate is not valid text.
    if (typeof text === 'string' && !text.includes('\u0000') && text.isWellFormed()) return text
  } catch {
    // Reported below.
  }
  throw wrong(token, 'a JSON string')
}

/** Reports whether a flat value satisfies a filter. A missing path is null. Text is compared without case. */
export function fitsFilter(filter: Filter, value: Readonly<Record<string, FilterValue>>): boolean {
  switch (filter.kind) {
    case 'and':
      return fitsFilter(filter.left, value) && fitsFilter(filter.right, value)
    case 'or':
      return fitsFilter(filter.left, value) || fitsFilter(filter.right, value)
    case 'not':
      return !fitsFilter(filter.inner, value)
    case 'within':
      return false
    case 'present':
      return partOf(value, filter.path) !== null
    case 'compare':
      return compares(filter.operator, lowered(partOf(value, filter.path)), lowered(filter.value))
  }
}

function partOf(value: Readonly<Record<string, FilterValue>>, path: string): FilterValue {
  const name = path.toLowerCase()
  return Object.hasOwn(value, name) ? (value[name] ?? null) : null
}

const lowered = (value: FilterValue): string => String(value).toLowerCase()

function compares(operator: FilterOperator, found: string, wanted: string): boolean {
  switch (operator) {
    case 'eq':
      return found === wanted
    case 'ne':
      return found !== wanted
    case 'co':
      return found.includes(wanted)
    case 'sw':
      return found.startsWith(wanted)
    case 'ew':
      return found.endsWith(wanted)
    case 'gt':
      return found > wanted
    case 'ge':
      return found >= wanted
    case 'lt':
      return found < wanted
    case 'le':
      return found <= wanted
  }
}
