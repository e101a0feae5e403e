/** Opens one connection that is not HTTP: judged, address pinned, prepared in time, ended with the call. */
import type { Socket } from 'node:net'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { DialTarget } from '../dial/dial.ts'
import { endedError, toConnectError } from '../exchange/failures.ts'

export type WireOpenDeps = {
  dial(to: DialTarget): Promise<Socket>
  /** Timeout of encryption and login together, in milliseconds. */
  timeoutMs: number
  signal: AbortSignal
}

/** Permission to use a server without encryption. */
export type PlainDeps = {
  /** Connector of the connection. The operator's grants begin with it. */
  connectorId: string
  /** Reports whether the operator permits this `host:port` without encryption. */
  mayBePlain(target: string): boolean
}

/** Destination of a connection: `origin` as an operator grants it, the others as it is dialled. */
export type WirePlace = { protocol: string; host: string; port: number; origin: string }

/** Returns `host:port`, as an operator grants it. */
export const hostAndPort = ({ origin }: Pick<WirePlace, 'origin'>): string =>
  origin.replace(/^[a-z]+:\/\//, '')

/**
 * Dials, and prepares the connection.
 *
 * @param prepare Prepares it. Passes to `use` the socket that replaces the raw one.
 * @throws egress_private, upstream_rejected, upstream_connect_timeout, upstream_closed, and the errors of
 * `prepare`
 */
export async function openWire<C>(
  place: WirePlace,
  { dial, timeoutMs, signal }: WireOpenDeps,
  prepare: (raw: Socket, use: (current: Socket) => void) => Promise<C>,
): Promise<C> {
  const { protocol, host, port } = place
  const from = hostAndPort(place)
  const raw = await dial({ protocol, hostname: host, port: String(port) }).catch(
    (error: unknown) => {
      throw signal.aborted ? endedError(signal, from) : error
    },
  )
  let current: Socket = raw
  let ended: RuntimeError | null = null
  const end = (error: RuntimeError) => {
    ended ??= error
    current.destroy()
    raw.destroy()
  }
  const late = new RuntimeError('upstream_connect_timeout', `${from} was not ready in time`)
  const timer = setTimeout(() => end(late), timeoutMs)
  const onAbort = () => end(endedError(signal, from))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await prepare(raw, (socket) => {
      current = socket
    })
  } catch (error) {
    raw.destroy()
    throw ended ?? toConnectError(error, from)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}
