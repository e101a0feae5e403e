/** The row that a statement with `returning` has written. */

/** @throws Error if there is none: a defect of ours, for the statement always writes one. */
export function written<T>(row: T | undefined): T {
  if (row === undefined) throw new Error('a statement has written no row')
  return row
}
