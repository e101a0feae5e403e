import { ConnectorError } from './connector-error.ts'

/**
 * Reports whether a new account should be enabled, by the requested `user_status`.
 *
 * @throws ConnectorError `invalid_value` for a status that a system without invitations does not have
 *
 * @example
 * const enabled = startsActive('SUSPENDED')
 */
export function startsActive(status: string | undefined): boolean {
  const word = (status ?? 'ACTIVE').toUpperCase()
  if (word === 'ACTIVE') return true
  if (word === 'SUSPENDED' || word === 'INACTIVE') return false
  throw new ConnectorError(
    'invalid_value',
    `user_status must be ACTIVE, SUSPENDED or INACTIVE, not ${JSON.stringify(status)}`,
  )
}
