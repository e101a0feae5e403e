/**
 * Finds many texts in one at once (Aho and Corasick 1975), so that the work is linear in the texts and in
 * what is searched, whatever both hold: no regular expression is made of a text that somebody else chose.
 *
 * The search runs from the end to the beginning. So the state at a place knows the longest text that
 * begins there, and a condition on what follows a text is met before its first step.
 */
import { type Branches, createBranches } from './branches.ts'

/** What is searched, and for: bytes, or the units of UTF-16. */
export type Symbols = Uint8Array | Uint16Array

/** Texts made ready to be searched for. Arrays are indexed by state; 0 is the one that has seen nothing. */
export type Search = {
  /** Length of the longest text. */
  maxLength: number
  /** Whether only texts are found with no letter or digit behind them. */
  alone: boolean
  /** The symbol that leads to a state: as it is from the state before, `-1 - symbol` from another. */
  edge: Int32Array
  /** The state of the longest end of what was seen that may go on; its complement (`~`) in states with branches. */
  fail: Int32Array
  /** The number of the longest text that was seen whole, or 0. */
  found: Int32Array
  branches: Branches
  /** The states after one symbol below 256. */
  first: Int32Array
}

/** A text to be found, and its number: from 1, other for each. */
export type Sought = { symbols: Symbols; number: number }

const ALPHANUMERIC = Uint8Array.from({ length: 0x80 }, (_, symbol) =>
  Number(/[A-Za-z0-9]/.test(String.fromCharCode(symbol))),
)

/** Whether a symbol is an ASCII letter or digit. */
export const isAlphanumeric = (symbol: number): boolean => ALPHANUMERIC[symbol] === 1

/** States after which work may be interrupted. */
const INTERRUPT_EVERY = 8192

/**
 * Makes a search; work for `inSlices` or `atOnce`.
 *
 * @param texts None twice, none empty.
 */
export function* prepareSearch(
  texts: readonly Sought[],
  { alone }: { alone: boolean },
): Generator<void, Search> {
  const size = texts.reduce((sum, { symbols }) => sum + symbols.length, 1)
  const search: Search = {
    maxLength: texts.reduce((max, { symbols }) => Math.max(max, symbols.length), 0),
    alone,
    edge: new Int32Array(size + 1).fill(-1),
    fail: new Int32Array(size),
    found: new Int32Array(size),
    branches: createBranches(texts.length),
    first: new Int32Array(256),
  }
  let count = 1
  for (const text of texts) {
    count = insert(search, text, count)
    yield
  }
  yield* linkFailures(search, count)
  return search
}

/** Adds the states of a text, the last symbol first; returns how many there are then. */
function insert(search: Search, { symbols, number }: Sought, count: number): number {
  const { edge, fail, branches, first, found } = search
  let state = 0
  let at = symbols.length - 1
  for (; at >= 0; at -= 1) {
    const next = after(search, state, symbols[at] as number)
    if (next === 0) break
    state = next
  }
  let made = count
  for (; at >= 0; at -= 1) {
    const symbol = symbols[at] as number
    if (made === state + 1) edge[made] = symbol
    else {
      edge[made] = -1 - symbol
      branches.add(state, symbol, made)
      fail[state] = ~0
    }
    if (state === 0 && symbol < 256) first[symbol] = made
    state = made
    made += 1
  }
  found[state] = number
  return made
}

/** Fills in `fail` and, from it, `found`: states in the order of how much they have seen. */
function* linkFailures(search: Search, count: number): Generator<void, void> {
  const { edge, fail, branches } = search
  const queue = new Int32Array(count)
  let queued = 1
  const enqueue = (state: number): void => {
    queue[queued] = state
    queued += 1
  }
  for (let taken = 0; taken < queued; taken += 1) {
    if (taken % INTERRUPT_EVERY === INTERRUPT_EVERY - 1) yield
    const state = queue[taken] as number
    if ((edge[state + 1] as number) >= 0) {
      linkFailure(search, state, state + 1)
      enqueue(state + 1)
    }
    if ((fail[state] as number) >= 0) continue
    for (const next of branches.of(state)) {
      linkFailure(search, state, next)
      enqueue(next)
    }
  }
}

/** Fills in the one of a state from that of the state before. */
function linkFailure(search: Search, state: number, next: number): void {
  const { fail, found, alone } = search
  const symbol = symbolTo(search, next)
  let from = state
  let to = 0
  while (from !== 0 && to === 0) {
    from = failureOf(fail[from] as number)
    if (from !== 0) to = after(search, from, symbol)
  }
  // A text that begins here has the symbol behind it that led to the state before.
  if (to === 0 && state !== 0 && !(alone && isAlphanumeric(symbolTo(search, state))))
    to = after(search, 0, symbol)
  fail[next] = (fail[next] as number) < 0 ? ~to : to
  if (found[next] === 0) found[next] = found[to] as number
}

const failureOf = (fail: number): number => (fail < 0 ? ~fail : fail)

function symbolTo({ edge }: Search, state: number): number {
  const symbol = edge[state] as number
  return symbol < 0 ? -1 - symbol : symbol
}

/** The state that a symbol leads to, or 0. */
function after({ edge, fail, branches }: Search, state: number, symbol: number): number {
  if (edge[state + 1] === symbol) return state + 1
  return (fail[state] as number) < 0 ? branches.get(state, symbol) : 0
}

/** Where a search stands: it has seen a text from some place on. `steps` counts its work. */
export type Standing = { state: number; steps: number }

/** What was found: for each place from `base` on the number of the longest text that begins there, or 0. */
export type Notes = { base: number; numbers: Int32Array; lengths: readonly number[] }

/** Searches from `to` down to `from` and goes on where it stood. Only what begins below the end of `numbers` is noted. */
export function searchBack(
  search: Search,
  text: Symbols,
  { from, to }: { from: number; to: number },
  standing: Standing,
  { base, numbers, lengths }: Notes,
): void {
  const { edge, fail, found, branches, first, alone } = search
  const end = base + numbers.length
  let { state, steps } = standing
  for (let at = to - 1; at >= from; at -= 1) {
    const symbol = text[at] as number
    let next = 0
    while (state !== 0) {
      steps += 1
      if (edge[state + 1] === symbol) {
        next = state + 1
        break
      }
      let failure = fail[state] as number
      if (failure < 0) {
        next = branches.get(state, symbol)
        if (next !== 0) break
        failure = ~failure
      }
      state = failure
    }
    if (state === 0) {
      steps += 1
      next = symbol < 256 ? (first[symbol] as number) : branches.get(0, symbol)
      // Past the end of the text there is no symbol, and so no letter.
      if (next !== 0 && alone && isAlphanumeric(text[at + 1] as number)) next = 0
    }
    state = next
    if (state === 0) continue
    const number = found[state] as number
    if (number === 0 || at >= end) continue
    const other = numbers[at - base] as number
    if ((lengths[number] as number) > (lengths[other] as number)) numbers[at - base] = number
  }
  standing.state = state
  standing.steps = steps
}
