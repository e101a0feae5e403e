/**
 * Refuses statements whose effect would outlast them. The session and its transaction belong to the host, and
 * the next request reuses the connection. Such a text is refused before it is sent. Effects that the text
 * does not show, such as those of a function that sets something, are undone by the host after each request.
 */
import type { SqlDialect, SqlStatement } from './sql.ts'

/**
 * Quoted text and comments, by system. Only in MySQL `#` begins a comment, and `--` only before a space; in
 * PostgreSQL a carriage return also ends one.
 */
export const SQL_TOKENS: Readonly<Record<SqlDialect, RegExp>> = {
  postgresql: /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n\r]*|\/\*(?:(?!\*\/)[\s\S])*\*\//g,
  mysql:
    /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|--(?=[\u0000-\u0020\u007f]|$)[^\n]*|#[^\n]*|\/\*(?:(?!\*\/)[\s\S])*\*\//g,
}

/** A nested comment, or a comment that MySQL and MariaDB execute. */
const TREACHEROUS = /^\/\*(?:M?!|[\s\S]*\/\*)/

const READING = ['SELECT', 'WITH', 'SHOW', 'TABLE', 'VALUES', 'EXPLAIN']

/** First words of statements that read. Other statements change the session or grants in any transaction. */
const READS: Readonly<Record<SqlDialect, readonly string[]>> = {
  postgresql: READING,
  mysql: [...READING, 'DESCRIBE', 'DESC'],
}

/** Writes a file on the server. MySQL and MariaDB do so in a read-only transaction as well. */
const WRITES_FILE = /\binto\s+(?:outfile|dumpfile)\b/i

/** Starts of statements that change the session, or begin or end a transaction. */
const OWN: Readonly<Record<SqlDialect, RegExp>> = {
  postgresql:
    /^(?:set(?!\s+(?:local|constraints)\b)|reset|discard|begin|start|commit|end|rollback|abort|savepoint|release|prepare|execute|deallocate|declare|fetch|move|close|listen|unlisten|load)\b/i,
  mysql:
    /^(?:set(?!\s+(?:password|default\s+role)\b)|begin|start|commit|rollback|savepoint|release|use|lock|unlock|xa|load|handler|prepare|execute|deallocate)\b/i,
}

/** Constructs that outlast a statement anywhere in it, and what to write instead. */
const LASTING: Readonly<Record<SqlDialect, readonly [RegExp, string][]>> = {
  postgresql: [
    [
      /\bset_config\s*\((?![^()]*,\s*true\s*\))/i,
      'sets something for the whole session: write set_config(name, value, true), with the value as a parameter',
    ],
    [
      /\bpg_(?:try_)?advisory_lock\w*\s*\(/i,
      'takes a lock for the whole session: take pg_advisory_xact_lock',
    ],
    [
      /^create\s+(?:or\s+replace\s+)?(?:(?:local|global)\s+)?temp(?:orary)?\b|\binto\s+(?:(?:local|global)\s+)?temp(?:orary)?\b|\bpg_temp\b/i,
      'makes something temporary, which lasts as long as the session: use WITH',
    ],
  ],
  mysql: [
    [/\bget_lock\s*\(/i, 'takes a lock for the whole session: lock rows with FOR UPDATE'],
    [
      /^create\s+(?:or\s+replace\s+)?temporary\b/i,
      'makes something temporary, which lasts as long as the session: use WITH',
    ],
  ],
}

const NAMES: Readonly<Record<SqlDialect, string>> = { postgresql: 'PostgreSQL', mysql: 'MySQL' }

/**
 * Returns what is wrong with a statement for one system, in addition to `textFault`. The text continues
 * `statements.list_roles.text: `. Null if nothing is wrong.
 */
export function sessionFault(
  dialect: SqlDialect,
  { text, reads }: Pick<SqlStatement, 'text' | 'reads'>,
): string | null {
  let isTreacherous = false
  const code = text
    .replace(SQL_TOKENS[dialect], (token) => {
      isTreacherous ||= TREACHEROUS.test(token)
      return /^['"`]/.test(token) ? "''" : ' '
    })
    .replace(/^[\s(]+/, '')
  if (isTreacherous) return 'has a comment in a comment, or one that the server runs: leave it out'
  const [own] = OWN[dialect].exec(code) ?? []
  if (own !== undefined)
    return `begins with ${own.toUpperCase()}: it changes the session or its transaction, which the host sets. Leave it out`
  if (dialect === 'postgresql' && /^copy\b/i.test(code))
    return 'begins with COPY, which is not carried out'
  const [first = ''] = /^\w*/.exec(code) ?? []
  if (reads && !READS[dialect].includes(first.toUpperCase()))
    return `is declared to read: in ${NAMES[dialect]} it begins with one of ${READS[dialect].join(', ')}`
  if (reads && dialect === 'mysql' && WRITES_FILE.test(code))
    return 'writes a file on the server, and "reads" says that it only reads: leave "reads" out'
  if (dialect === 'mysql' && code.includes('?'))
    return 'has a question mark: a value stands in the text as $1, $2, in their order'
  const [, why] = LASTING[dialect].find(([pattern]) => pattern.test(code)) ?? []
  return why ?? null
}
