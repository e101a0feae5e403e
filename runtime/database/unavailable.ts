/** Classifies errors: the database is away, or the statement was wrong. */

import { RuntimeError } from '../contract/errors/errors.ts'
import { codeOf } from '../contract/errors/thrown.ts'

/** AWAY_STATES: SQLSTATE, or its prefix -> when PostgreSQL, or a pooler in front of it, reports it. */
export const AWAY_STATES: Record<string, string> = {
  '08': 'the connection broke, or a pooler has none to the server',
  '25006': 'it only reads: a standby, or default_transaction_read_only',
  '25P03': 'it ended a session that was idle in its transaction',
  '25P04': 'it ended a session whose transaction took too long',
  '28': 'it does not let the role in: a changed password or pg_hba.conf, another cluster',
  '3D000': 'the database is not there: dropped, or not yet restored',
  '53': 'it has no connections, no memory or no disk left',
  '55000': 'it takes no connections (allow_connections), or does not allow this while it recovers',
  '57P01': 'it is shut down',
  '57P02': 'it has crashed',
  '57P03': 'it starts, or recovers',
  '57P04': 'the database was dropped',
  '57P05': 'it ended an idle session',
  '58': 'its system fails, such as the disk',
}
const STATES = Object.keys(AWAY_STATES)

/**
 * UNREACHABLE: codes of a connection that cannot be made, or that breaks. Names and routes change when a
 * standby takes over.
 */
export const UNREACHABLE: readonly string[] = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
]

/** Messages of pg without a code. */
const WORDS =
  /connection (terminated|timeout|ended|error)|timeout exceeded when trying to connect|timeout expired|query read timeout/i

/** Internal errors of a server that is still a standby. */
const RECOVERING = /during recovery/

/** Reports whether an error means that the database is away, rather than that the statement was wrong. */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) {
    // An error of another system or of a connector. Its cause may be a broken connection, but not ours.
    if (one instanceof RuntimeError) return one.code === 'database_away'
    const { message, syscall }: NodeJS.ErrnoException = one
    // Other libraries set `code` to null or to a number.
    const code = codeOf(one) ?? ''
    if (UNREACHABLE.includes(code) || STATES.some((state) => isState(code, state))) return true
    if (code === 'XX000' && RECOVERING.test(message)) return true
    // The socket of a server, not one of our files.
    if (code === 'ENOENT' && syscall === 'connect') return true
    if (WORDS.test(message)) return true
  }
  return false
}

/** SQLSTATEs have five characters. Other codes may begin with the same characters. */
const isState = (code: string, state: string): boolean =>
  code.length === 5 && code.startsWith(state)
