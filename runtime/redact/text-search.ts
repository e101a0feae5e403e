/**
 * Searches for many texts at once (Aho and Corasick 1975), in time linear in the texts and in the searched
 * data, for any contents. No regular expression is made from untrusted text.
 *
 * The search runs backwards. So the state at a position knows the longest text that begins there, and a
 * condition on the symbol after a text is checked before its first step.
 *
 * Hostile texts must not take much longer than ordinary ones. A state with branches therefore has a row with
 * its transition for every byte, and a state with one edge falls back only to states that may know another
 * symbol (Knuth, Morris and Pratt 1977).
 */
import { type Branches, createBranches } from './branches.ts'

/** Symbols of a text: bytes, or UTF-16 code units. */
type Symbols = Uint8Array | Uint16Array

/** Texts prepared for a search. Arrays are indexed by state; 0 is the initial state. */
export type Search = {
  /** Length of the longest text, in symbols. */
  maxLength: number
  /** Whether a text is found only if no ASCII letter or digit follows it. */
  alone: boolean
  /**
   * Symbol that leads to a state: the symbol itself if it leads there from the preceding state, else
   * `-1 - symbol`.
   */
  edge: Int32Array
  /**
   * Failure link, used if a state has no edge for a symbol: another state, or `~row` in states with branches.
   */
  fail: Int32Array
  /** Number of the longest text that is complete in a state, or 0. */
  found: Int32Array
  branches: Branches
  rows: Rows
  /** States after one symbol below 256. */
  first: Int32Array
}

/** Transitions of the states with branches, by row. */
type Rows = {
  /** State after each symbol below 256, at `row * 256 + symbol`. */
  next: Int32Array
  /** Failure link for larger symbols that have no branch. */
  fail: Int32Array
}

/** Number of symbols that a row has transitions for. */
const ROW = 256

/** Text to search for, and its unique number, from 1. */
export type Sought = { symbols: Symbols; number: number }

const ALPHANUMERIC = Uint8Array.from({ length: 0x80 }, (_, symbol) =>
  Number(/[A-Za-z0-9]/.test(String.fromCharCode(symbol))),
)

/** Reports whether a symbol is an ASCII letter or digit. */
export const isAlphanumeric = (symbol: number): boolean => ALPHANUMERIC[symbol] === 1

/** Number of states after which the work can be interrupted. */
const INTERRUPT_EVERY = 8192

/**
 * Prepares a search. Run it with `inSlices` or `atOnce`.
 *
 * @param texts Texts to search for, not empty, without duplicates.
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
    rows: { next: new Int32Array(0), fail: new Int32Array(0) },
    first: new Int32Array(ROW),
  }
  let count = 1
  // The longest first: a text that is the end of another one then lies on its path and needs no branch.
  for (const text of texts.toSorted((a, b) => b.symbols.length - a.symbols.length)) {
    count = insert(search, text, count)
    yield
  }
  const order = yield* linkFailures(search, count)
  yield* shortenFailures(search, order)
  return search
}

/** Adds the states of a text, last symbol first. @returns the number of states */
function insert(search: Search, { symbols, number }: Sought, count: number): number {
  const { edge, fail, branches, first, found } = search
  let state = 0
  let at = symbols.length - 1
  for (; at >= 0; at -= 1) {
    const next = after(search, state, symbols[at] ?? 0)
    if (next === 0) break
    state = next
  }
  let made = count
  for (; at >= 0; at -= 1) {
    const symbol = symbols[at] ?? 0
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

/**
 * Fills in `fail` as Aho and Corasick define it (`~state` in states with branches), and `found` from it.
 *
 * @returns the states by depth
 */
function* linkFailures(search: Search, count: number): Generator<void, Int32Array> {
  const { edge, fail, branches } = search
  const queue = new Int32Array(count)
  let queued = 1
  const enqueue = (state: number): void => {
    queue[queued] = state
    queued += 1
  }
  for (let taken = 0; taken < queued; taken += 1) {
    if (taken % INTERRUPT_EVERY === INTERRUPT_EVERY - 1) yield
    const state = queue[taken] ?? 0
    if ((edge[state + 1] ?? 0) >= 0) {
      linkFailure(search, state, state + 1)
      enqueue(state + 1)
    }
    if ((fail[state] ?? 0) >= 0) continue
    for (const next of branches.of(state)) {
      linkFailure(search, state, next)
      enqueue(next)
    }
  }
  return queue
}

/**
 * Removes failure links to states that cannot continue either, and creates the rows, in the order of depth.
 */
function* shortenFailures(search: Search, order: Int32Array): Generator<void, void> {
  const { edge, fail } = search
  const withBranches = order.filter((state) => state !== 0 && (fail[state] ?? 0) < 0)
  const rows: Rows = {
    next: new Int32Array(withBranches.length * ROW),
    fail: new Int32Array(withBranches.length),
  }
  search.rows = rows
  let made = 0
  for (let taken = 1; taken < order.length; taken += 1) {
    if (taken % INTERRUPT_EVERY === INTERRUPT_EVERY - 1) yield
    const state = order[taken] ?? 0
    if ((fail[state] ?? 0) >= 0) {
      // Shallower states are done already. A state with a row knows the transition at once.
      const to = fail[state] ?? 0
      const isSkipped =
        to !== 0 &&
        (fail[to] ?? 0) >= 0 &&
        ((edge[to + 1] ?? 0) < 0 || edge[to + 1] === edge[state + 1])
      if (isSkipped) fail[state] = fail[to] ?? 0
      continue
    }
    const to = ~(fail[state] ?? 0)
    rows.fail[made] = to
    fillRow(search, state, made)
    fail[state] = ~made
    made += 1
    yield
  }
}

/** Fills in the row of a state from the rows of its failure links. */
function fillRow(search: Search, state: number, row: number): void {
  const { edge, fail, branches, rows, first, alone } = search
  const next = rows.next.subarray(row * ROW, (row + 1) * ROW)
  const passed: number[] = []
  let to = rows.fail[row] ?? 0
  for (; to !== 0 && (fail[to] ?? 0) >= 0; to = fail[to] ?? 0) passed.push(to)
  if (to !== 0) next.set(rows.next.subarray(~(fail[to] ?? 0) * ROW).subarray(0, ROW))
  else if (!(alone && isAlphanumeric(symbolTo(search, state)))) next.set(first)
  const set = (from: number): void => {
    const symbol = edge[from + 1] ?? 0
    if (symbol >= 0 && symbol < ROW) next[symbol] = from + 1
  }
  for (const from of passed.reverse()) set(from)
  set(state)
  for (const branch of branches.of(state)) {
    const symbol = symbolTo(search, branch)
    if (symbol < ROW) next[symbol] = branch
  }
}

/** Fills in the failure link of a state from that of its parent. */
function linkFailure(search: Search, state: number, next: number): void {
  const { fail, found, alone } = search
  const symbol = symbolTo(search, next)
  let from = state
  let to = 0
  while (from !== 0 && to === 0) {
    from = failureOf(fail[from] ?? 0)
    if (from !== 0) to = after(search, from, symbol)
  }
  // A text that begins here is followed by the symbol that led to the parent.
  if (to === 0 && state !== 0 && !(alone && isAlphanumeric(symbolTo(search, state))))
    to = after(search, 0, symbol)
  fail[next] = (fail[next] ?? 0) < 0 ? ~to : to
  if (found[next] === 0) found[next] = found[to] ?? 0
}

const failureOf = (fail: number): number => (fail < 0 ? ~fail : fail)

function symbolTo({ edge }: Search, state: number): number {
  const symbol = edge[state] ?? 0
  return symbol < 0 ? -1 - symbol : symbol
}

/** Returns the state that a symbol leads to, or 0. */
function after({ edge, fail, branches }: Search, state: number, symbol: number): number {
  if (edge[state + 1] === symbol) return state + 1
  return (fail[state] ?? 0) < 0 ? branches.get(state, symbol) : 0
}

/** Progress of a search: the state at the current position, and `steps`, a count of the work done. */
type Standing = { state: number; steps: number }

/** Result: for each position from `base`, the number of the longest text that begins there, or 0. */
export type Notes = { base: number; numbers: Int32Array; lengths: readonly number[] }

/**
 * Searches from `to` down to `from`, continuing at `standing`. Texts that begin beyond the end of `numbers`
 * are not noted.
 *
 * @returns whether any text was noted
 */
export function searchBack(
  search: Search,
  text: Symbols,
  { from, to }: { from: number; to: number },
  standing: Standing,
  { base, numbers, lengths }: Notes,
): boolean {
  const { edge, fail, found, branches, first, alone } = search
  const { next: rowNext, fail: rowFail } = search.rows
  const end = base + numbers.length
  let { state, steps } = standing
  let isNoted = false
  for (let at = to - 1; at >= from; at -= 1) {
    if (state === 0) {
      // Fast path for symbols that begin no text, which is most bytes of most replies.
      const idle = at
      for (; at >= from; at -= 1) {
        const symbol = text[at] ?? 0
        if (symbol >= ROW) break
        // Past the end of the text there is no symbol, so no letter or digit.
        if (first[symbol] !== 0 && !(alone && isAlphanumeric(text[at + 1] ?? 0))) break
      }
      steps += idle - at
      if (at < from) break
    }
    const symbol = text[at] ?? 0
    /** Negative until the transition is known. */
    let next = -1
    while (state !== 0 && next < 0) {
      steps += 1
      const failure = fail[state] ?? 0
      if (edge[state + 1] === symbol) next = state + 1
      else if (failure >= 0) state = failure
      else if (symbol < ROW) next = rowNext[~failure * ROW + symbol] ?? 0
      else {
        next = branches.get(state, symbol) || -1
        state = rowFail[~failure] ?? 0
      }
    }
    if (next < 0) {
      steps += 1
      next = symbol < ROW ? (first[symbol] ?? 0) : after(search, 0, symbol)
      // Past the end of the text there is no symbol, so no letter or digit.
      if (next !== 0 && alone && isAlphanumeric(text[at + 1] ?? 0)) next = 0
    }
    state = next
    const number = found[state] ?? 0
    if (number === 0) continue
    if (at < end) {
      isNoted = true
      const other = numbers[at - base] ?? 0
      if (other === 0 || (lengths[number] ?? 0) > (lengths[other] ?? 0)) numbers[at - base] = number
    }
    // The last state of a text has no edge. Follow its failure link now instead of at the next symbol.
    const failure = fail[state] ?? 0
    if (failure >= 0 && (edge[state + 1] ?? 0) < 0) state = failure
  }
  standing.state = state
  standing.steps = steps
  return isNoted
}

const INTEGER_BYTES = 4
/** Size of a branch in bytes, with its places in tables that are at most half full. */
const BRANCH_BYTES = 128

/** Returns the memory that a search takes, in bytes. */
export function bytesOfSearch({ edge, fail, found, rows, first, branches }: Search): number {
  const lists = [edge, fail, found, rows.next, rows.fail, first]
  const integers = lists.reduce((sum, { length }) => sum + length, 0)
  return INTEGER_BYTES * integers + BRANCH_BYTES * branches.room
}
