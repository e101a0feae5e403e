/** A statement as MySQL and MariaDB take it: its parameters, and what the host keeps for itself. Pure. */
import type { SqlStatement } from '../../contract/connector/sql.ts'
import type { SqlParameter } from '../../contract/connector/sql-context.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { toSent } from './mysql-values.ts'

/** A text with question marks, and what is sent for each. */
export type Prepared = { text: string; values: unknown[] }

/** Quoted text, or a parameter. */
const PARTS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\$(\d+)/g

/** What a statement that reads begins with. Others change the session, or what is granted, in any transaction. */
const READS = /^[\s(]*(select|with|show|table|values|describe|desc|explain)\b/i
/** How texts are quoted and what may be written is a matter of the session, which is the host's. */
const SESSION =
  /^\s*(set\s+(?!password\b|default\s+role\b)|begin\b|start\b|commit\b|rollback\b|use\b|lock\b|xa\b|load\b|handler\b)/i

/**
 * Writes `$1` as the question mark that stands for it there.
 *
 * @throws egress_undeclared for a statement that is the host's own, or is declared to read and is none that can
 */
export function prepare(
  name: string,
  { text, parameters: types, reads }: SqlStatement,
  given: readonly SqlParameter[],
): Prepared {
  if (reads && !READS.test(text))
    throw new RuntimeError(
      'egress_undeclared',
      `The statement ${name} is declared to read: in MySQL it begins with SELECT, WITH, SHOW, TABLE, VALUES, DESCRIBE or EXPLAIN`,
    )
  if (SESSION.test(text))
    throw new RuntimeError(
      'egress_undeclared',
      `The statement ${name} changes the session or its transaction, which the host sets: leave it out`,
    )
  const values: unknown[] = []
  const marked = text.replace(PARTS, (part, number?: string) => {
    if (number === undefined) return part
    const index = Number(number) - 1
    values.push(toSent(given[index] ?? null, types[index]))
    return '?'
  })
  return { text: marked, values }
}
