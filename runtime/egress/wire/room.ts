/**
 * The host's way to one kind of server: opens connections, keeps them, and carries judged requests out. Its answers
 * are replies with a JSON body, like those of any upstream, so that what stands for the network in the test kit can
 * give them too.
 */

import { normalizeId } from '../../contract/connector/manifest.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { createDialer } from '../dial/dial.ts'
import { createLookupsOf, type ResolveName, resolveBySystem } from '../dial/lookups.ts'
import { endedError } from '../exchange/failures.ts'
import type { PrivateGrants } from '../limits/grants.ts'
import type { EgressLimits } from '../limits/limits.ts'
import { OUTSIDE_CALLS } from './guard.ts'
import { hostAndPort, type OpenMeans, type PlainMeans, type WirePlace } from './open.ts'
import { createPool, DEFAULT_POOL, type Far, type Lease, type PooledConnection } from './pool.ts'

/** What one request has of its call. */
export type RoomMeans = {
  connectorId: string
  /** Whose call it is; without it the connection is kept for nobody. */
  tenant: string | undefined
  signal: AbortSignal
  endMs: number
  onSend(): void
  onBytes(bytes: number): void
  read(bytes: number): number
}

/** How to open a connection for a connector. */
type RoomOpenMeans = OpenMeans & PlainMeans

/** The reply to a request: JSON, how many items it holds, and how many requests were sent for it; one unless it is said. */
export type Performed = { body: Buffer; items: number; sent?: number }

/** What a room needs to know of its protocol. `A` is what is asked: a judged request, and who asks. */
export type Trade<A, C extends PooledConnection> = {
  far: Far
  placeOf(asked: A): WirePlace
  /** What keeps connections apart, beside connector, tenant and server. */
  keyOf(asked: A): readonly (string | null)[]
  open(asked: A, means: RoomOpenMeans): Promise<C>
  perform(asked: A, lease: Lease<C>, leftMs: number): Promise<Performed>
  /** Most items of a reply. */
  maxItemsOf(asked: A): number
  parkedIdOf(asked: A): string | undefined
  /** Whether it may be sent again where a kept connection had gone. */
  mayRepeat(asked: A): boolean
  failureOf(error: unknown, guard: C['guard'], from: string): RuntimeError
  /** Whether a connection with a parked result can serve another request; true unless it is said. */
  canLeaveParked?: boolean
  /** After this the connection is as good as before: the server refused, and went on. */
  isRefusal(error: RuntimeError): boolean
  /** Makes a connection that refused fit for the next request. */
  mend?(lease: Lease<C>): Promise<void>
  /** Resets the session after a request; the connection is not used again before. Never rejects. */
  reset?(connection: C): Promise<void>
  /** Ends on the server what runs on a connection of which the call has ended. */
  stop?(asked: A, connection: C, means: RoomOpenMeans): Promise<void>
}

export type Room<A> = {
  /**
   * Carries a judged request out, and once more on a new connection where a kept one of a reading one had gone.
   *
   * @throws egress_private, egress_concurrency, upstream_*, and what the trade throws
   */
  perform(asked: A, means: RoomMeans): Promise<Performed>
  /** Open connections of the process. */
  connections(): number
  close(): void
}

export type RoomOptions = {
  privateGrants: PrivateGrants
  plainGrants: PrivateGrants
  limits: EgressLimits
  resolve?: ResolveName
}

/** Longest that ending a statement on the server may take, and resetting a session, in milliseconds. */
const STOP_MS = 2000

/** Longest that one request may take, in milliseconds. */
const MAX_REQUEST_MS = 60_000

export function createRoom<A, C extends PooledConnection>(
  trade: Trade<A, C>,
  { privateGrants, plainGrants, limits, resolve = resolveBySystem }: RoomOptions,
): Room<A> {
  const lookupsOf = createLookupsOf(resolve)
  const pool = createPool<C>(trade.far, {
    ...DEFAULT_POOL,
    canLeaveParked: trade.canLeaveParked ?? true,
  })

  function meansFor({ connectorId }: RoomMeans, signal: AbortSignal): RoomOpenMeans {
    const id = normalizeId(connectorId)
    return {
      dial: createDialer({
        connectorId,
        isGranted: (at) => privateGrants.get(id)?.has(at) ?? false,
        connectTimeoutMs: limits.connectTimeoutMs,
        signal,
        lookups: lookupsOf(id),
      }),
      connectorId,
      mayBePlain: (at) => plainGrants.get(id)?.has(at) ?? false,
      timeoutMs: limits.connectTimeoutMs,
      signal,
    }
  }

  async function attempt(asked: A, means: RoomMeans, lease: Lease<C>): Promise<Performed> {
    const { signal, endMs } = means
    const { connection } = lease
    const { guard } = connection
    const from = hostAndPort(trade.placeOf(asked))
    let isSent = false
    const onAbort = () => {
      if (isSent && guard.isOpen()) {
        const stopping = meansFor(means, AbortSignal.timeout(STOP_MS))
        // Nobody waits for it, and the server has a timeout of its own.
        trade.stop?.(asked, connection, stopping).catch(() => {})
      }
      guard.end(endedError(signal, from))
    }
    signal.addEventListener('abort', onAbort, { once: true })
    const done = guard.allow({
      onBytes: means.onBytes,
      read: means.read,
      maxItems: trade.maxItemsOf(asked),
    })
    try {
      if (signal.aborted) throw endedError(signal, from)
      means.onSend()
      isSent = true
      const left = Math.min(endMs - Date.now(), MAX_REQUEST_MS)
      const found = await trade.perform(asked, lease, left)
      isSent = false
      done()
      release(lease)
      return found
    } catch (error) {
      isSent = false
      const failure = trade.failureOf(error, guard, from)
      // After anything but a refusal nobody knows what state the connection is in.
      const isGood = trade.isRefusal(failure) && (await mended(lease))
      done()
      if (isGood) release(lease)
      else lease.drop()
      throw failure
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** Returns a connection to the pool. Its session is reset after the answer: the caller does not wait for it. */
  function release(lease: Lease<C>): void {
    const { connection, parked } = lease
    const needsNone = trade.reset === undefined || parked !== null || !connection.guard.isOpen()
    lease.release(needsNone ? null : reset(connection))
  }

  async function reset(connection: C): Promise<void> {
    const done = connection.guard.allow(OUTSIDE_CALLS)
    const timer = setTimeout(() => connection.guard.end(), STOP_MS)
    await trade.reset?.(connection)
    clearTimeout(timer)
    done()
  }

  async function mended(lease: Lease<C>): Promise<boolean> {
    try {
      await trade.mend?.(lease)
      return true
    } catch {
      return false
    }
  }

  return {
    async perform(asked, means) {
      const { connectorId, tenant } = means
      const { origin } = trade.placeOf(asked)
      /** Whose connection it is. The tenant is a digest of settings and credentials, passwords included. */
      const key =
        tenant === undefined
          ? null
          : JSON.stringify([normalizeId(connectorId), tenant, origin, ...trade.keyOf(asked)])
      const open = () => trade.open(asked, meansFor(means, means.signal))
      const lease = () => pool.lease(key, open, trade.parkedIdOf(asked))
      const first = await lease()
      try {
        return await attempt(asked, means, first)
      } catch (error) {
        const isGone = error instanceof RuntimeError && error.code === 'upstream_closed'
        if (!isGone || !first.isUsed || !trade.mayRepeat(asked) || means.signal.aborted) throw error
        // A kept connection that the server had closed: nothing was found, and asking again changes nothing.
        return attempt(asked, means, await lease())
      }
    },
    connections: () => pool.size(),
    close: () => pool.close(),
  }
}
