/** Columns of results. */
import { RuntimeError } from '../../contract/errors/errors.ts'

/**
 * Judges the columns of a result: rows are objects by column, so of two of one name the values of one would be lost.
 *
 * @returns egress_url where two have one name, null where the result can be read
 */
export function columnsFault(
  statement: string,
  columns: readonly { name: string }[],
): RuntimeError | null {
  const names = new Set<string>()
  for (const { name } of columns) {
    if (names.has(name))
      return new RuntimeError(
        'egress_url',
        `The statement ${statement} gives two columns named ${name}: give one of them another name with "as"`,
      )
    names.add(name)
  }
  return null
}
