/** Connections of one host process to directories. */
import { escapeDnValue } from '../../contract/connector/dn.ts'
import { LDAP_LIMITS, type LdapRequest, ldapResultOf } from '../../contract/connector/ldap.ts'
import type { CallSecrets } from '../../contract/connector/secrets.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { LdapTarget } from '../rules/ldap-rules.ts'
import { loginOf } from '../wire/login.ts'
import {
  createWireClient,
  type WireClient,
  type WireClientOptions,
  type WireProtocol,
} from '../wire/wire-client.ts'
import { type Bind, connect, type LdapConnection } from './connect.ts'
import { failureOf } from './failures.ts'
import { parkedIdOf, perform } from './perform.ts'

/** Judged request, and its bind. */
type LdapOperation = { request: LdapRequest; target: LdapTarget; bind: Bind | null }

export type DirectoryClient = WireClient<LdapOperation>

const LDAP: WireProtocol<LdapOperation, LdapConnection> = {
  peer: { one: 'directory', many: 'directories' },
  placeOf: ({ target }) => target,
  keyOf: ({ bind }) => [bind?.dn ?? null],
  open: ({ target, bind }, deps) => connect(target, bind, deps),
  perform,
  maxItemsOf: ({ request }) =>
    LDAP_LIMITS.maxRanges +
    (request.operation === 'search' ? (request.page.size ?? LDAP_LIMITS.defaultPage) : 0),
  parkedIdOf: ({ request }) => parkedIdOf(request),
  mayRepeat: ({ request }) => request.operation === 'search',
  failureOf,
  isServerError: ({ code }) => code === 'directory_refused',
}

/** Creates the client of directories of one host process. */
export const createDirectoryClient = (options: WireClientOptions): DirectoryClient =>
  createWireClient(LDAP, options)

/**
 * Returns the bind that the egress entry declares, or null for an anonymous one.
 *
 * @throws egress_secret if the call does not have the credential, or it may not be sent there
 */
export function bindOf(
  { bind, secrets, field }: LdapTarget,
  held: CallSecrets | null,
): Bind | null {
  if (bind === null) return null
  const { username, password } = loginOf(bind.credential, { secrets, field, verb: 'binds' }, held)
  // A bind without a password succeeds as anonymous (RFC 4513 section 5.1.2).
  if (password === '' || username === '')
    throw new RuntimeError('directory_refused', 'The user name or the password is empty', {
      wire: 'unauthenticated',
      appErrorCode: ldapResultOf(49).name,
    })
  const { dn } = bind
  const name = dn === null ? username : dn.replaceAll('{username}', () => escapeDnValue(username))
  return { dn: name, password }
}
