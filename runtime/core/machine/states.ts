/** Tables of states, which every machine has: what each means, and which may follow. */

/** One state. */
export type StateRow<S extends string> = { next: readonly S[]; meaning: string }

type StateTable<S extends string> = Readonly<Record<S, Pick<StateRow<S>, 'next'>>>

/** Whether a row in one state may get into another. */
export const mayBecome = <S extends string>(table: StateTable<S>, from: S, to: S): boolean =>
  table[from].next.includes(to)

/**
 * Demands that a table has a move.
 *
 * @param what `an access request`
 * @throws Error where it does not: a defect of ours
 */
export function demandMove<S extends string>(
  what: string,
  table: StateTable<S>,
  from: S,
  to: S,
): void {
  if (!mayBecome(table, from, to)) throw new Error(`${what} that is ${from} cannot become ${to}`)
}
