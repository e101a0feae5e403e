/** State tables of the machines: the meaning of each state and its permitted successors. */

/** Row of a state table. */
export type StateRow<S extends string> = { next: readonly S[]; meaning: string }

type StateTable<S extends string> = Readonly<Record<S, Pick<StateRow<S>, 'next'>>>

/** Reports whether a row may change from one state to another. */
export const mayBecome = <S extends string>(table: StateTable<S>, from: S, to: S): boolean =>
  table[from].next.includes(to)

/**
 * Asserts that a table permits a change of state.
 *
 * @param what the row in an error message, such as `an access request`
 * @throws Error if it does not, which is a bug in Keyway
 */
export function requireMove<S extends string>(
  what: string,
  table: StateTable<S>,
  from: S,
  to: S,
): void {
  if (!mayBecome(table, from, to)) throw new Error(`${what} that is ${from} cannot become ${to}`)
}
