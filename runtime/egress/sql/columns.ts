/** Columns of results. */
import { RuntimeError } from '../../contract/errors/errors.ts'

/**
 * Returns the error for a result with two columns of the same name: rows are objects by column, and the
 * values of one would be lost.
 *
 * @returns context_misused, or null if all names are unique
 */
export function duplicateColumn(
  statement: string,
  columns: readonly { name: string }[],
): RuntimeError | null {
  const names = new Set<string>()
  for (const { name } of columns) {
    if (names.has(name))
      return new RuntimeError(
        'context_misused',
        `The statement ${statement} gives two columns named ${name}: give one of them another name with "as"`,
      )
    names.add(name)
  }
  return null
}
