/** Opens one connection to a directory: judged, address pinned, encrypted, bound. */
import type { Socket } from 'node:net'
import { Client } from 'ldapts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { readAnswer, upgrade } from '../dial/upgrade.ts'
import type { LdapTarget } from '../rules/ldap-rules.ts'
import { OUTSIDE_CALLS } from '../wire/guard.ts'
import { hostAndPort, openWire, type PlainDeps, type WireOpenDeps } from '../wire/open.ts'
import { failureOf } from './failures.ts'
import { guardLdap, type LdapGuard } from './guard.ts'
import { readHeader, shapeOf, sizeAt } from './reply-shape.ts'

/** Credentials of a bind. Without them the connection is anonymous. */
export type Bind = { dn: string; password: string }

type ConnectDeps = WireOpenDeps & PlainDeps

/** Connection that is ready for operations. */
export type LdapConnection = { client: Client; guard: LdapGuard }

/**
 * Connects. `ldap:` is upgraded by STARTTLS before anything else is sent, unless the operator grants plain
 * text. Names in certificates are checked against the host of the manifest.
 *
 * @throws egress_private, upstream_rejected, upstream_connect_timeout, upstream_closed, upstream_garbled, and
 * directory_refused if the bind fails
 */
export function connect(
  target: LdapTarget,
  bind: Bind | null,
  deps: ConnectDeps,
): Promise<LdapConnection> {
  const { protocol, host } = target
  const from = hostAndPort(target)
  return openWire(target, deps, async (raw, use) => {
    let current = raw
    if (protocol === 'ldap:' && !deps.mayBePlain(from))
      current = await startTls(raw, host, from, deps.connectorId)
    use(current)
    const guard = guardLdap(current, from)
    const client = new Client({
      url: 'ldap://directory.invalid',
      // The cast: the type requires a complete socket. Of an open one, the library uses only
      // `GuardedSocket`'s members: its events, `write`, `end` and `destroy` (ldapts 9, `_connect` and
      // `_send`). The library's own TLS, which needs more, is not used.
      createConnection: () => guard.socket as unknown as Socket,
    })
    const done = guard.allow(OUTSIDE_CALLS)
    try {
      // Without credentials, the bind is anonymous and makes the library open its socket.
      await client.bind(bind?.dn ?? '', bind?.password ?? '')
    } catch (error) {
      const failure = failureOf(error, guard, from)
      guard.end()
      throw ofSignIn(failure)
    } finally {
      done()
    }
    return { client, guard }
  })
}

/**
 * Converts the code by which 389 Directory Server reports a locked account. Others report a wrong password.
 */
const ofSignIn = (failure: RuntimeError): RuntimeError =>
  failure.details.appErrorCode === 'unwillingToPerform'
    ? new RuntimeError('directory_refused', failure.message, {
        ...failure.details,
        wire: 'unauthenticated',
      })
    : failure

/** ExtendedRequest 1.3.6.1.4.1.1466.20037 (RFC 4511 section 4.14), message 1. */
const START_TLS = Buffer.concat([
  Buffer.from([0x30, 0x1d, 0x02, 0x01, 0x01, 0x77, 0x18, 0x80, 0x16]),
  Buffer.from('1.3.6.1.4.1.1466.20037'),
])

/**
 * Upgrades a connection.
 *
 * @throws upstream_rejected, upstream_garbled, or the errors of TLS
 */
async function startTls(
  raw: Socket,
  host: string,
  from: string,
  connectorId: string,
): Promise<Socket> {
  raw.write(START_TLS)
  const answer = await readAnswer(raw, from, {
    asked: 'STARTTLS',
    protocol: 'LDAP',
    advice: 'where it is a port of ldaps:, write ldaps: before its address',
    sizeOf: (held) => sizeAt(held, 0),
  })
  const shape = shapeOf(answer)
  // SEQUENCE, message id (3 bytes), then the result's tag, length and code.
  const header = readHeader(answer)
  const headerBytes = header === null || header === 'short' ? 0 : header.headerBytes
  const result = answer.subarray(headerBytes + 3)
  const inner = readHeader(result)
  if (shape?.kind !== 'result' || result[0] !== 0x78 || inner === null || inner === 'short')
    throw new RuntimeError('upstream_garbled', `${from} did not answer STARTTLS with valid LDAP`)
  const code = result[inner.headerBytes + 2]
  if (code !== 0)
    throw new RuntimeError(
      'upstream_rejected',
      `${from} was not reached: it refuses STARTTLS (result ${code}). Use ldaps:, or the operator grants plain text: KEYWAY_PLAIN_LDAP=${connectorId}=${from}`,
    )
  return upgrade(raw, host, from)
}
