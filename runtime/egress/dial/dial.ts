/** Opens connections: looks a name up once, judges all its addresses, connects to one of them. */
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { buildConnector } from 'undici'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { signalOfDispatch } from '../exchange/dispatch.ts'
import { endedError, toConnectError } from '../exchange/failures.ts'
import { privateKind } from './addresses.ts'
import { createLookups, type Lookups, type ResolveName, resolveBySystem } from './lookups.ts'

/** Attempt to connect to one address. `servername` is the host as written, or `null` for an address. */
export type Attempt = {
  protocol: string
  address: string
  port: number
  servername: string | null
  timeoutMs: number
  /** Ends the attempt, but not an established connection. */
  signal?: AbortSignal | undefined
}
type OpenSocket = (attempt: Attempt) => Promise<Socket>

export type DialOptions = {
  connectorId: string
  /** Reports whether the operator lets this connector reach this `host:port` although it is private. */
  isGranted(target: string): boolean
  connectTimeoutMs: number
  resolve?: ResolveName
  openSocket?: OpenSocket
}

/** Options for a connection that serves a single call. */
type DialerOptions = Omit<DialOptions, 'resolve'> & {
  /** Ends the lookup and the attempt, but not an established connection. */
  signal: AbortSignal
  lookups: Lookups
}

/** Maximum number of addresses that are tried. The timeout is divided among them. */
const MAX_ADDRESSES = 8

/** Destination of a connection, with an explicit port. */
export type DialTarget = { hostname: string; protocol: string; port: string }

/** Opens connections that are not HTTP, with the same judgement. @throws like `createDial` */
export const createDialer =
  (options: DialerOptions): ((to: DialTarget) => Promise<Socket>) =>
  (to) =>
    dial(to, options, options.lookups, options.signal)

/**
 * Returns the `connect` of an undici Agent for one connector. The name is looked up once per connection, and
 * the connection is made to an address from that answer, so that a second, different answer (DNS rebinding)
 * has no effect. One address that is not public refuses the whole name. Connecting ends with the request that
 * needs the connection (`requestWith`).
 *
 * Errors: egress_private, upstream_rejected, upstream_connect_timeout, and the reason of the request's
 * signal.
 */
export function createDial(options: DialOptions): buildConnector.connector {
  const lookups = createLookups(options.resolve ?? resolveBySystem)
  return (target, callback) => {
    dial(target, options, lookups, signalOfDispatch()).then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    )
  }
}

/**
 * Refuses an address that is not public.
 *
 * @param target `host:port` as in the request's URL, for the message.
 * @throws egress_private naming the kind of address and the grant to add; never the address of a name
 */
export function refusePrivate(address: string, target: string, connectorId: string): void {
  const kind = privateKind(address)
  if (kind === null) return
  const article = /^[aeiou]/.test(kind) ? 'an' : 'a'
  throw new RuntimeError(
    'egress_private',
    `${target} is ${article} ${kind}. If that is meant, the operator grants it: KEYWAY_PRIVATE_EGRESS=${connectorId}=${target}`,
  )
}

async function dial(
  to: Pick<buildConnector.Options, 'hostname' | 'protocol' | 'port'>,
  options: DialOptions,
  lookups: Lookups,
  signal: AbortSignal | undefined,
): Promise<Socket> {
  const { hostname, protocol } = to
  const port = Number(to.port) || (protocol === 'https:' ? 443 : 80)
  const isAddress = isIP(hostname) !== 0
  const target = `${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${port}`
  const { openSocket = openSocketByNode, connectTimeoutMs: timeoutMs } = options
  const endMs = performance.now() + timeoutMs
  try {
    const ended = () => lookupTimedOut(target)
    const found = isAddress ? [hostname] : await lookups(hostname, { signal, timeoutMs, ended })
    signal?.throwIfAborted()
    if (found.length === 0)
      throw new RuntimeError(
        'upstream_rejected',
        `${target} was not reached: the name has no address`,
      )
    if (!options.isGranted(target))
      for (const address of found) refusePrivate(address, target, options.connectorId)

    const addresses = found.slice(0, MAX_ADDRESSES)
    let failure: unknown
    for (const [index, address] of addresses.entries()) {
      const timeoutMs = Math.max(1, (endMs - performance.now()) / (addresses.length - index))
      const servername = isAddress ? null : hostname
      try {
        return await openSocket({ protocol, address, port, servername, timeoutMs, signal })
      } catch (error) {
        // The next address may answer. The last failure is reported.
        failure = error
        if (signal?.aborted) break
      }
    }
    throw failure
  } catch (error) {
    if (signal?.aborted) throw endedError(signal, target)
    // Convert the error before undici sees it: for some codes of sockets, undici retries forever.
    throw toConnectError(error, target, protocol === 'ldaps:' ? WRITE_LDAP : undefined)
  }
}

const WRITE_LDAP = 'where it is a port of ldap:, write ldap: before its address'

const openSocketByNode: OpenSocket = ({ protocol, address, port, servername, timeoutMs, signal }) =>
  new Promise((resolve, reject) => {
    const secure = protocol === 'https:' || protocol === 'ldaps:'
    const socket = secure
      ? connectTls({
          host: address,
          port,
          ...(protocol === 'https:' ? { ALPNProtocols: ['http/1.1'] } : {}),
          ...(servername === null ? {} : { servername }),
        })
      : connectTcp({ host: address, port })
    const giveUp = () => void socket.destroy(timedOut())
    const timer = setTimeout(giveUp, timeoutMs)
    signal?.addEventListener('abort', giveUp, { once: true })
    if (signal?.aborted) giveUp()
    const settled = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', giveUp)
    }
    socket.setNoDelay(true).setKeepAlive(true, 60_000)
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      settled()
      resolve(socket)
    })
    // Never removed: an error before undici adds its own listener would end the process.
    socket.on('error', (error) => {
      settled()
      reject(error)
    })
  })

const lookupTimedOut = (target: string): RuntimeError =>
  new RuntimeError('upstream_connect_timeout', `The name of ${target} was not looked up in time`)

const timedOut = (): Error => Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' })
