/**
 * Converts the errors that the LDAP library throws to errors of calls: result codes by `LDAP_RESULTS`
 * (contract/connector/ldap.ts), others by the state of the connection.
 */

import { ResultCodeError } from 'ldapts'
import { cut } from '../../bounded/cut.ts'
import { ldapResultOf, signInReason } from '../../contract/connector/ldap.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { errorOf } from '../../contract/errors/thrown.ts'
import type { Guard } from '../wire/guard.ts'
import type { Notice } from './reply-shape.ts'

/** Maximum length of a server's text that a message repeats, in characters. */
const MAX_SERVER_MESSAGE = 200

/**
 * Returns the error for one that the library threw. A bug in Keyway remains recognizable as one.
 *
 * @returns directory_refused for a result code, else the reason why the connection ended
 */
export function failureOf(error: unknown, guard: Guard, from: string): RuntimeError {
  if (error instanceof RuntimeError) return error
  const code = codeOf(error)
  if (code !== null) return ldapServerError(code, serverMessageOf(errorOf(error)), from)
  const failure = guard.failure()
  if (failure !== null) return failure
  if (!guard.isOpen())
    return new RuntimeError('upstream_closed', `${from} closed the connection in the middle`)
  return new RuntimeError('upstream_garbled', `${from} did not answer with valid LDAP`, {}, error)
}

/** Hints about results, by their name. `page_size` is the setting's name in the bundled connectors. */
const ENCRYPT =
  ': it takes a sign-in on an encrypted connection alone: write ldaps: in the address, or take the grant of plain text (KEYWAY_PLAIN_LDAP) back'
const HINTS: Readonly<Record<string, string>> = {
  strongerAuthRequired: ENCRYPT,
  confidentialityRequired: ENCRYPT,
  invalidCredentials:
    ': the DN that signs in, or its password, is wrong, or the account is locked; the directory does not say which',
  invalidDNSyntax:
    ': what signs in, or what was asked for, is no DN such as cn=keyway,dc=acme,dc=example',
  insufficientAccessRights:
    ': the account that signs in has no right to this there; the page of the connector lists those that it needs',
  referral: ': it names another server for this entry, and referrals are not followed',
  inappropriateAuthentication:
    ': it takes no sign-in of this kind, which may be one without a name (no `bind` in the manifest)',
  sizeLimitExceeded:
    ': it gives the account that signs in no more entries than these in one search, all pages together, or knows no pages: raise the limit there',
  notAllowedOnNonLeaf: ': there are other entries below this one: delete or move them first',
  adminLimitExceeded:
    ': a page was larger than it gives, or the account may not page: lower the page size (page_size in the settings of the connectors that come along, `most` in the code of another), or raise the limit there',
}

/**
 * Returns the error for a result code other than success: always directory_refused. The code that callers see
 * (`wire`) and `app_error_code` come from `LDAP_RESULTS`.
 */
export function ldapServerError(code: number, serverText: string, from: string): RuntimeError {
  const { name, wire } = ldapResultOf(code)
  const hint = signInReason(serverText) || (HINTS[name] ?? '')
  const text = serverText === '' ? '' : `: ${cut(serverText, MAX_SERVER_MESSAGE)}`
  return new RuntimeError('directory_refused', `${from} answered ${name} (${code})${hint}${text}`, {
    wire,
    appErrorCode: name,
  })
}

/** Returns the error for a server's notice of disconnection. No operation failed by itself. */
export function leaving({ code, serverText }: Notice, from: string): RuntimeError {
  const text = serverText === '' ? '' : `: ${cut(serverText, MAX_SERVER_MESSAGE)}`
  return new RuntimeError(
    'upstream_closed',
    `${from} closed the connection and said ${ldapResultOf(code).name} (${code})${text}`,
  )
}

/** Adds the DN of the missing entry to the error, because a call may have requested several. */
export function withEntry(error: unknown, dn: string): unknown {
  if (!(error instanceof RuntimeError) || error.details.appErrorCode !== 'noSuchObject')
    return error
  const message = `${error.message} (the entry ${cut(dn, MAX_SERVER_MESSAGE)})`
  return new RuntimeError(error.code, message, error.details, error)
}

/** Returns the result code in an error of the library, by its class or its name, or null. */
function codeOf(error: unknown): number | null {
  if (!(error instanceof Error)) return null
  // The library resets prototypes, so `instanceof` alone is not reliable.
  const { code, name }: Error & { code?: unknown } = error
  const isResult = error instanceof ResultCodeError || name === 'ResultCodeError'
  return typeof code === 'number' && (isResult || /Error$/.test(name)) ? code : null
}

/** Returns the server's text without the code. */
const serverMessageOf = ({ message }: Error): string =>
  message.replace(/ ?Code: 0x[0-9a-f]+$/i, '').trim()
