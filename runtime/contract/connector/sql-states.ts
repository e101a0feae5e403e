/**
 * Errors of databases by code, and the error that each becomes.
 *
 * Source: PostgreSQL, appendix A (SQLSTATE).
 */
import { MYSQL_ERRORS } from './mysql-errors.ts'
import type { SqlServerError } from './sql-server-error.ts'

/** Single codes, and classes by their first two characters. Any other code becomes `api_error`. */
export const SQL_STATES: Readonly<Record<string, SqlServerError>> = {
  '08': { name: 'connection exception', wire: 'service_error', status: 503 },
  '0A': { name: 'feature not supported', wire: 'unsupported_operation', status: 501 },
  '0L': { name: 'invalid grantor', wire: 'permission_denied', status: 403 },
  '0LP01': { name: 'invalid grant operation', wire: 'bad_request', status: 409 },
  '0P': { name: 'invalid role specification', wire: 'invalid_value', status: 422 },
  '22': { name: 'data exception', wire: 'invalid_value', status: 422 },
  '23': { name: 'integrity constraint violation', wire: 'bad_request', status: 409 },
  '23502': { name: 'not null violation', wire: 'invalid_value', status: 422 },
  '23514': { name: 'check violation', wire: 'invalid_value', status: 422 },
  '25': { name: 'invalid transaction state', wire: 'client_call_error', status: 400 },
  '25006': { name: 'read only sql transaction', wire: 'client_call_error', status: 403 },
  '28': { name: 'invalid authorization specification', wire: 'unauthenticated', status: 401 },
  '28P01': { name: 'invalid password', wire: 'unauthenticated', status: 401 },
  '2BP01': { name: 'dependent objects still exist', wire: 'bad_request', status: 409 },
  '3D000': { name: 'invalid catalog name', wire: 'not_found', status: 404 },
  '3F000': { name: 'invalid schema name', wire: 'not_found', status: 404 },
  '40': { name: 'transaction rollback', wire: 'service_error', status: 503 },
  '42': { name: 'syntax error or access rule violation', wire: 'client_call_error', status: 400 },
  '42501': { name: 'insufficient privilege', wire: 'permission_denied', status: 403 },
  '42602': { name: 'invalid name', wire: 'invalid_value', status: 422 },
  '42622': { name: 'name too long', wire: 'invalid_value', status: 422 },
  '42704': { name: 'undefined object', wire: 'not_found', status: 404 },
  '42710': { name: 'duplicate object', wire: 'bad_request', status: 409 },
  '42939': { name: 'reserved name', wire: 'invalid_value', status: 422 },
  '42P04': { name: 'duplicate database', wire: 'bad_request', status: 409 },
  '42P06': { name: 'duplicate schema', wire: 'bad_request', status: 409 },
  '42P07': { name: 'duplicate table', wire: 'bad_request', status: 409 },
  '44': { name: 'with check option violation', wire: 'invalid_value', status: 422 },
  '53': { name: 'insufficient resources', wire: 'service_error', status: 503 },
  '53300': { name: 'too many connections', wire: 'rate_limit', status: 429 },
  '54': { name: 'program limit exceeded', wire: 'bad_request', status: 413 },
  '55': { name: 'object not in prerequisite state', wire: 'bad_request', status: 409 },
  '55P03': { name: 'lock not available', wire: 'service_error', status: 503 },
  '57': { name: 'operator intervention', wire: 'service_error', status: 503 },
  '57014': { name: 'query canceled', wire: 'request_timeout', status: 504 },
  P0: { name: 'error of a function', wire: 'bad_request', status: 422 },
}

/** Reports whether a code is an SQLSTATE: five characters, upper case or digits. */
export const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code)

/** Reports whether a code is an SQLSTATE or a MySQL error number. */
export const isSqlCode = (code: string): boolean => isSqlState(code) || /^\d{4}$/.test(code)

/** Returns the row of a code, or else of its class. For an unknown code, returns a generic row. */
export const sqlErrorOf = (code: string): SqlServerError =>
  MYSQL_ERRORS[code] ??
  SQL_STATES[code] ??
  SQL_STATES[code.slice(0, 2)] ?? { name: 'error', wire: 'api_error', status: 500 }
