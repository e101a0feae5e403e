/** A statement as MySQL and MariaDB take it. Pure. */
import type { SqlStatement } from '../../contract/connector/sql.ts'
import type { SqlParameter } from '../../contract/connector/sql-context.ts'
import { SQL_TOKENS } from '../../contract/connector/sql-session.ts'
import { toSent } from './mysql-values.ts'

/** A text with question marks, and what is sent for each; `statement` is the name of a declared one. */
export type Prepared = { statement?: string; text: string; values: unknown[] }

/** Quoted text, a comment, or a parameter. A question mark in a comment is none to the server. */
const PARTS = new RegExp(`${SQL_TOKENS.mysql.source}|\\$(\\d+)`, 'g')

/** Writes `$1` as the question mark that stands for it there. */
export function prepare(
  { text, parameters: types }: Pick<SqlStatement, 'text' | 'parameters'>,
  given: readonly SqlParameter[],
): Prepared {
  const values: unknown[] = []
  const marked = text.replace(PARTS, (part, number?: string) => {
    if (number === undefined) return part
    const index = Number(number) - 1
    values.push(toSent(given[index] ?? null, types[index]))
    return '?'
  })
  return { text: marked, values }
}
