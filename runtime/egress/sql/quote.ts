/** Puts names, texts and passwords into the places of a statement, each quoted by the rule of its system. */
import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import {
  SQL_LIMITS,
  type SqlDialect,
  type SqlPlace,
  type SqlStatement,
  type StatementStep,
} from '../../contract/connector/sql.ts'
import { piecesOf } from '../../contract/connector/sql-text.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { SqlTarget } from '../rules/sql-rules.ts'

type Quotes = Record<SqlPlace, (text: string) => string | Promise<string>>

/** Longest identifier of PostgreSQL, in bytes: it cuts longer ones off, and they would name something else. */
const MAX_POSTGRES_BYTES = 63

/** How each system quotes. */
const QUOTES: Readonly<Record<SqlDialect, Quotes>> = {
  postgresql: {
    identifier(text) {
      if (Buffer.byteLength(text) > MAX_POSTGRES_BYTES)
        throw refused('42622', `A name may have ${MAX_POSTGRES_BYTES} bytes in PostgreSQL`)
      return `"${text.replaceAll('"', '""')}"`
    },
    // With E the backslash means the same whatever `standard_conforming_strings` is.
    literal: (text) =>
      text.includes('\\')
        ? ` E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
        : `'${text.replaceAll("'", "''")}'`,
    integer: wholeNumber,
    async password(text) {
      return `'${await scramVerifier(text)}'`
    },
  },
  mysql: {
    identifier(text) {
      // The server would put a question mark in their place, and that names another user.
      if (/[\u{10000}-\u{10ffff}]/u.test(text))
        throw refused('1300', 'A name holds a character that MySQL does not keep in names')
      return `\`${text.replaceAll('`', '``')}\``
    },
    // The session says that a backslash is one (NO_BACKSLASH_ESCAPES).
    literal: (text) => `'${text.replaceAll("'", "''")}'`,
    integer: wholeNumber,
    // The server judges it by its own rules, and keeps it as the plugin of the statement does.
    password: (text) => `'${text.replaceAll("'", "''")}'`,
  },
}

/** A number that stands bare: what is none could be anything else there. */
function wholeNumber(text: string): string {
  // Behind a minus of the statement, another one would begin a comment.
  if (/^-?\d{1,19}$/.test(text)) return text.replace('-', ' -')
  throw refused('22023', 'A number has digits alone, at most 19 of them')
}

/**
 * The statement that a step names.
 *
 * @throws database_refused for a parameter with half of a character
 */
export function judgedStatement(
  name: string,
  parameters: StatementStep['parameters'],
  { statements }: SqlTarget,
): SqlStatement {
  const declared = statements[name]
  if (declared === undefined)
    throw new RuntimeError('internal', 'a statement was not judged before it was sent')
  for (const [index, value] of parameters.entries())
    for (const one of [value].flat())
      if (typeof one === 'string') demandWhole(one, `Parameter $${index + 1} of ${name}`)
  return declared
}

/** The error where a query that is not read in pages has more rows than one answer may. */
export const tooManyRows = (statement: string): RuntimeError =>
  new RuntimeError(
    'upstream_too_large',
    `The statement ${statement} found more than ${SQL_LIMITS.maxRows} rows: read it in pages`,
  )

/**
 * The text of a statement with what its places hold.
 *
 * @throws egress_url for a place without a name or the other way round, database_refused for what cannot be quoted
 */
export async function writeText(
  name: string,
  { text }: Pick<SqlStatement, 'text'>,
  names: Readonly<Record<string, string>>,
  dialect: SqlDialect,
): Promise<string> {
  const used = new Set<string>()
  const written: string[] = []
  for (const piece of piecesOf(text)) {
    if (typeof piece === 'string') {
      written.push(piece)
      continue
    }
    const value = Object.hasOwn(names, piece.name) ? names[piece.name] : undefined
    if (value === undefined)
      throw new RuntimeError('egress_url', `The statement ${name} needs a name for ${piece.name}`)
    if (value === '' && piece.place !== 'literal')
      throw refused('42602', `The ${piece.place} ${piece.name} is empty`)
    if (value.includes('\0'))
      throw refused('42602', `The ${piece.place} ${piece.name} holds a NUL character`)
    demandWhole(value, `The ${piece.place} ${piece.name}`)
    used.add(piece.name)
    written.push(await QUOTES[dialect][piece.place](value))
  }
  const stray = Object.keys(names).find((one) => !used.has(one))
  if (stray === undefined) return written.join('')
  throw new RuntimeError('egress_url', `The statement ${name} has no place for ${stray}`)
}

/**
 * Half of a character is sent as another character, and that names something else.
 *
 * @throws database_refused for a text with half of a surrogate pair
 */
function demandWhole(text: string, what: string): void {
  if (!text.isWellFormed())
    throw refused('22021', `${what} holds half of a character (a lone surrogate)`)
}

const refused = (state: string, message: string): RuntimeError =>
  new RuntimeError('database_refused', message, { wire: 'invalid_value', appErrorCode: state })

const derive = promisify(pbkdf2)
/** What PostgreSQL uses itself (`scram_iterations`). */
const ITERATIONS = 4096

/** What SASLprep leaves out or writes as a space, and what has another form (RFC 4013 section 2.1). */
const PREPARED = /\p{C}|\p{Default_Ignorable_Code_Point}|[\u1680\u1806]/u

/**
 * A password that is the same with and without SASLprep. Clients use either, by what they know of Unicode, so any other one
 * would let nobody in.
 *
 * @throws database_refused
 */
function demandPlain(password: string): string {
  if (/^[\x20-\x7e]*$/.test(password)) return password
  if (password.normalize('NFKC') === password && !PREPARED.test(password)) return password
  throw refused(
    '22023',
    'The password has characters that clients of PostgreSQL read in more than one way, such as ½, ① or one that is not seen: choose another',
  )
}

/**
 * A password as PostgreSQL keeps it: so the password itself comes neither to the server nor to its log.
 *
 * Source: RFC 5803; PostgreSQL, pg_authid.
 */
async function scramVerifier(password: string): Promise<string> {
  const salt = randomBytes(16)
  const salted = await derive(demandPlain(password), salt, ITERATIONS, 32, 'sha256')
  const keyed = (label: string) => createHmac('sha256', salted).update(label).digest()
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64')
  const server = keyed('Server Key').toString('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`
}
