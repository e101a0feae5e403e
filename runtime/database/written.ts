/** The row that a statement with `returning` has written. */

/** @throws Error if there is none: a defect of ours, for the statement always writes one. */
export function written<T>(row: T | undefined): T {
  if (row === undefined) throw new Error('a statement has written no row')
  return row
}

/** The row of a statement that has exactly one. @throws Error if there is none */
export const one = <T>(rows: readonly T[]): T => written(rows[0])
