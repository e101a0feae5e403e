/** Edges of a search tree that do not lead to the next state. They are few, and kept in a hash table. */

export type Branches = {
  /** Maximum number of branches. */
  readonly room: number
  add(state: number, symbol: number, next: number): void
  /** Returns the state that the symbol leads to, or 0. */
  get(state: number, symbol: number): number
  /** Returns all states that a branch of this state leads to. */
  of(state: number): readonly number[]
}

/** Odd, and different in each process, so that no attacker can choose texts whose branches collide. */
const BY_STATE = Math.floor(Math.random() * 2 ** 31) * 2 + 1
const BY_SYMBOL = Math.floor(Math.random() * 2 ** 31) * 2 + 1

/**
 * Creates an empty table.
 *
 * @param most Maximum number of branches.
 */
export function createBranches(most: number): Branches {
  const bits = Math.max(3, Math.ceil(Math.log2(most * 2 + 1)))
  const size = 2 ** bits
  const mask = size - 1
  const states = new Int32Array(size)
  const symbols = new Int32Array(size)
  /** 0 in empty places. */
  const nexts = new Int32Array(size)
  const byState = new Map<number, number[]>()

  const placeOf = (state: number, symbol: number): number => {
    let at = (Math.imul(state, BY_STATE) + Math.imul(symbol + 1, BY_SYMBOL)) >>> (32 - bits)
    while (nexts[at] !== 0 && (states[at] !== state || symbols[at] !== symbol)) at = (at + 1) & mask
    return at
  }

  return {
    room: most,
    add(state, symbol, next) {
      const at = placeOf(state, symbol)
      states[at] = state
      symbols[at] = symbol
      nexts[at] = next
      const others = byState.get(state)
      if (others === undefined) byState.set(state, [next])
      else others.push(next)
    },
    get: (state, symbol) => nexts[placeOf(state, symbol)] ?? 0,
    of: (state) => byState.get(state) ?? [],
  }
}
