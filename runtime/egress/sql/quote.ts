/** Inserts names, texts and passwords into a statement, each quoted by the rules of its system. */
import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type {
  SqlDialect,
  SqlPlace,
  SqlStatement,
  StatementStep,
} from '../../contract/connector/sql.ts'
import { piecesOf } from '../../contract/connector/sql-text.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { SqlTarget } from '../rules/sql-rules.ts'

type Quotes = Record<SqlPlace, (text: string) => string | Promise<string>>

/**
 * Maximum length of a PostgreSQL identifier, in bytes. Longer ones are truncated, and would name another
 * object.
 */
const MAX_POSTGRES_BYTES = 63

/** Quoting rules of each system. */
const QUOTES: Readonly<Record<SqlDialect, Quotes>> = {
  postgresql: {
    identifier(text) {
      if (Buffer.byteLength(text) > MAX_POSTGRES_BYTES)
        throw refused('42622', `A name may have ${MAX_POSTGRES_BYTES} bytes in PostgreSQL`)
      return `"${text.replaceAll('"', '""')}"`
    },
    // With E, a backslash means the same for any value of `standard_conforming_strings`.
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
      // The server would replace it with a question mark, and the name would denote another user.
      if (/[\u{10000}-\u{10ffff}]/u.test(text))
        throw refused('1300', 'A name holds a character that MySQL does not keep in names')
      return `\`${text.replaceAll('`', '``')}\``
    },
    // The session takes a backslash literally (NO_BACKSLASH_ESCAPES).
    literal: (text) => `'${text.replaceAll("'", "''")}'`,
    integer: wholeNumber,
    // The server checks it by its own rules, and stores it as the plugin of the statement does.
    password: (text) => `'${text.replaceAll("'", "''")}'`,
  },
}

/** Returns an unquoted number. Any other text could change the statement. @throws database_refused */
function wholeNumber(text: string): string {
  // After a minus sign in the statement, another one would begin a comment.
  if (/^-?\d{1,19}$/.test(text)) return text.replace('-', ' -')
  throw refused('22023', 'A number has digits alone, at most 19 of them')
}

/**
 * Returns the statement that a step names.
 *
 * @throws database_refused for a parameter with a lone surrogate
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
      if (typeof one === 'string') requireWhole(one, `Parameter $${index + 1} of ${name}`)
  return declared
}

/**
 * Returns the text of a statement with its places filled in.
 *
 * @throws egress_url if a place has no name or a name no place, database_refused for a value that cannot be
 * quoted
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
      throw new RuntimeError(
        'context_misused',
        `The statement ${name} needs a name for ${piece.name}`,
      )
    if (value === '' && piece.place !== 'literal')
      throw refused('42602', `The ${piece.place} ${piece.name} is empty`)
    if (value.includes('\0'))
      throw refused('42602', `The ${piece.place} ${piece.name} holds a NUL character`)
    requireWhole(value, `The ${piece.place} ${piece.name}`)
    used.add(piece.name)
    written.push(await QUOTES[dialect][piece.place](value))
  }
  const stray = Object.keys(names).find((one) => !used.has(one))
  if (stray === undefined) return written.join('')
  throw new RuntimeError('context_misused', `The statement ${name} has no place for ${stray}`)
}

/**
 * A lone surrogate would be sent as another character, and name another object.
 *
 * @throws database_refused for a text with a lone surrogate
 */
function requireWhole(text: string, what: string): void {
  if (!text.isWellFormed())
    throw refused('22021', `${what} holds half of a character (a lone surrogate)`)
}

const refused = (state: string, message: string): RuntimeError =>
  new RuntimeError('database_refused', message, { wire: 'invalid_value', appErrorCode: state })

const derive = promisify(pbkdf2)
/** Default of PostgreSQL (`scram_iterations`). */
const ITERATIONS = 4096

/**
 * Characters that SASLprep removes, replaces with a space, or writes in another form (RFC 4013 section 2.1).
 */
const PREPARED = /\p{C}|\p{Default_Ignorable_Code_Point}|[\u1680\u1806]/u

/**
 * Returns a password that is the same with and without SASLprep. Clients differ in whether they apply it,
 * depending on their Unicode support, so logins with any other password would fail.
 *
 * @throws database_refused
 */
function requirePlain(password: string): string {
  if (/^[\x20-\x7e]*$/.test(password)) return password
  if (password.normalize('NFKC') === password && !PREPARED.test(password)) return password
  throw refused(
    '22023',
    'The password has characters that clients of PostgreSQL read in more than one way, such as ½, ① or one that is not seen: choose another',
  )
}

/**
 * Returns a password in the form in which PostgreSQL stores it. So the password itself reaches neither the
 * server nor its log.
 *
 * Source: RFC 5803; PostgreSQL, pg_authid.
 */
async function scramVerifier(password: string): Promise<string> {
  const salt = randomBytes(16)
  const salted = await derive(requirePlain(password), salt, ITERATIONS, 32, 'sha256')
  const keyed = (label: string) => createHmac('sha256', salted).update(label).digest()
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64')
  const server = keyed('Server Key').toString('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`
}
