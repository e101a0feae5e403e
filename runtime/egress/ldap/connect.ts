/** Opens one connection to a directory: judged, pinned, encrypted, bound. */
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Client } from 'ldapts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { DialTarget } from '../dial/dial.ts'
import { toConnectError } from '../exchange/failures.ts'
import type { LdapTarget } from '../rules/ldap-rules.ts'
import { createGuard, type Guard } from './guard.ts'
import { failureOf } from './results.ts'
import { readHeader, shapeOf } from './shape.ts'

/** Who binds. Without it the connection is anonymous. */
export type Bind = { dn: string; password: string }

export type ConnectMeans = {
  dial(to: DialTarget): Promise<Socket>
  /** Whether the operator lets `ldap:` to this `host:port` go without encryption. */
  mayBePlain(target: string): boolean
  /** For STARTTLS and the bind together, in milliseconds. */
  timeoutMs: number
}

/** A connection that is ready for operations. */
export type Connection = { client: Client; guard: Guard }

/** Counts nothing: replies before the first operation are a few bytes. */
const FIRST_REPLIES = { onBytes: () => {}, read: () => 0, maxEntries: 0 }

/**
 * Connects. `ldap:` is upgraded by STARTTLS before anything else is sent, unless the operator grants plain text;
 * names of certificates are checked against the host of the manifest.
 *
 * @throws egress_private, upstream_rejected, upstream_connect_timeout, upstream_closed, upstream_garbled, and
 * directory_refused where the bind fails
 */
export async function connect(
  target: LdapTarget,
  bind: Bind | null,
  { dial, mayBePlain, timeoutMs }: ConnectMeans,
  signal: AbortSignal,
): Promise<Connection> {
  const { protocol, host, port } = target
  const from = hostAndPort(target)
  const raw = await dial({ protocol, hostname: host, port: String(port) })
  let current: Socket = raw
  const late = new RuntimeError('upstream_connect_timeout', `${from} was not ready in time`)
  let ended: RuntimeError | null = null
  const end = (error: RuntimeError) => {
    ended ??= error
    current.destroy()
    raw.destroy()
  }
  const timer = setTimeout(() => end(late), timeoutMs)
  const onAbort = () => end(abortedError(signal, from))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    if (protocol === 'ldap:' && !mayBePlain(from)) current = await startTls(raw, host, from)
    const guard = createGuard(current, from)
    const client = new Client({
      url: 'ldap://directory.invalid',
      // The type asks for a whole socket. Of one that is open the library uses what `GuardedSocket` has: its events,
      // `write`, `end` and `destroy` (ldapts 9, `_connect` and `_send`). Its own TLS, which needs more, is not used.
      createConnection: () => guard.socket as unknown as Socket,
    })
    if (bind !== null) {
      const done = guard.allow(FIRST_REPLIES)
      try {
        await client.bind(bind.dn, bind.password)
      } catch (error) {
        const failure = failureOf(error, guard, from)
        guard.end()
        throw failure
      } finally {
        done()
      }
    } else await openLibrary(client, guard)
    return { client, guard }
  } catch (error) {
    raw.destroy()
    throw ended ?? toConnectError(error, from)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

/** An anonymous bind: what opens the library's side where there are no credentials. */
async function openLibrary(client: Client, guard: Guard): Promise<void> {
  const done = guard.allow(FIRST_REPLIES)
  try {
    await client.bind('', '')
  } finally {
    done()
  }
}

/** `host:port` as an operator grants it. */
export const hostAndPort = ({ origin }: Pick<LdapTarget, 'origin'>): string =>
  origin.replace(/^ldaps?:\/\//, '')

/** The error of a call that has ended: the signal's own one if it has one. */
export const abortedError = ({ reason }: AbortSignal, from: string): RuntimeError =>
  reason instanceof RuntimeError
    ? reason
    : new RuntimeError('upstream_timeout', `${from} did not answer in time`)

/** ExtendedRequest 1.3.6.1.4.1.1466.20037 (RFC 4511 section 4.14), message 1. */
const START_TLS = Buffer.concat([
  Buffer.from([0x30, 0x1d, 0x02, 0x01, 0x01, 0x77, 0x18, 0x80, 0x16]),
  Buffer.from('1.3.6.1.4.1.1466.20037'),
])

/** Longest answer to STARTTLS, in bytes. */
const MAX_ANSWER_BYTES = 4096

/**
 * Upgrades a connection. Bytes behind the answer are refused: they were sent in plain text, by anyone.
 *
 * @throws upstream_rejected, upstream_garbled, or what TLS says
 */
async function startTls(raw: Socket, host: string, from: string): Promise<Socket> {
  const answer = await readAnswer(raw, from)
  const shape = shapeOf(answer)
  // SEQUENCE, message id (3 bytes), then the result's tag, length and code.
  const { headerBytes } = readHeader(answer) as { headerBytes: number }
  const result = answer.subarray(headerBytes + 3)
  const inner = readHeader(result)
  if (shape?.kind !== 'result' || result[0] !== 0x78 || inner === null || inner === 'short')
    throw new RuntimeError('upstream_garbled', `${from} did not answer STARTTLS with valid LDAP`)
  const code = result[inner.headerBytes + 2]
  if (code !== 0)
    throw new RuntimeError(
      'upstream_rejected',
      `${from} was not reached: it refuses STARTTLS (result ${code}). Use ldaps:, or the operator grants plain text: KEYWAY_PLAIN_LDAP`,
    )
  return new Promise((resolve, reject) => {
    // For an address the name to check is the address: it is no server name.
    const isName = !/^[0-9.]+$|:/.test(host)
    const secured = connectTls({ socket: raw, host, ...(isName ? { servername: host } : {}) })
    secured.once('secureConnect', () => resolve(secured))
    secured.on('error', reject)
    secured.once('close', () =>
      reject(new RuntimeError('upstream_rejected', `${from} closed the connection during TLS`)),
    )
  })
}

function readAnswer(raw: Socket, from: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let held: Buffer = Buffer.alloc(0)
    const settle = (finish: () => void) => {
      raw.off('data', onData)
      raw.off('close', onClose)
      raw.pause()
      finish()
    }
    const onClose = () =>
      settle(() =>
        reject(new RuntimeError('upstream_rejected', `${from} closed the connection at STARTTLS`)),
      )
    const onData = (chunk: Buffer) => {
      held = Buffer.concat([held, chunk])
      const sizes = readHeader(held)
      if (sizes === 'short') return
      const total = sizes === null ? 0 : sizes.headerBytes + sizes.contentBytes
      if (sizes === null || total > MAX_ANSWER_BYTES || held.length > total)
        return settle(() =>
          reject(
            new RuntimeError('upstream_garbled', `${from} did not answer STARTTLS with valid LDAP`),
          ),
        )
      if (held.length === total) settle(() => resolve(held))
    }
    raw.on('data', onData)
    raw.once('close', onClose)
    raw.write(START_TLS)
  })
}
