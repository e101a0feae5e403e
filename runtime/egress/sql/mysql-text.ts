/** Statements in the syntax of MySQL and MariaDB. Pure. */
import type { SqlStatement } from '../../contract/connector/sql.ts'
import type { SqlParameter } from '../../contract/connector/sql-context.ts'
import { SQL_TOKENS } from '../../contract/connector/sql-session.ts'
import { toSent } from './mysql-values.ts'

/** Text with question marks, and the value of each. `statement` is the name of a declared statement. */
export type Prepared = { statement?: string; text: string; values: unknown[] }

/** Quoted text, a comment, or a parameter. To the server, a question mark in a comment is not a parameter. */
const PARTS = new RegExp(`${SQL_TOKENS.mysql.source}|\\$(\\d+)`, 'g')

/** Replaces each `$1` with a question mark. */
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
