/**
 * Connections of the host to one kind of server: opens them, keeps them, and performs judged requests.
 * Replies have a JSON body, like those of any upstream, so that the test kit's replacement of the network can
 * return them too.
 */

import { normalizeId } from '../../contract/connector/manifest.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { createDialer } from '../dial/dial.ts'
import { createLookupsOf, type ResolveName, resolveBySystem } from '../dial/lookups.ts'
import { endedError } from '../exchange/failures.ts'
import type { PrivateGrants } from '../limits/grants.ts'
import type { EgressLimits } from '../limits/limits.ts'
import { OUTSIDE_CALLS } from './guard.ts'
import { hostAndPort, type PlainDeps, type WireOpenDeps, type WirePlace } from './open.ts'
import {
  createPool,
  DEFAULT_POOL,
  type Lease,
  type PeerNames,
  type PooledConnection,
} from './pool.ts'

/** Data of a request's call. */
export type WireDeps = {
  connectorId: string
  /** Tenant of the call. Without it, the connection is not kept. */
  tenant: string | undefined
  signal: AbortSignal
  endMs: number
  onSend(): void
  onBytes(bytes: number): void
  read(bytes: number): number
}

/** What opening a connection for a connector needs. */
type WireConnectDeps = WireOpenDeps & PlainDeps

/** Reply to a request: JSON, its number of items, and the number of requests sent for it, by default one. */
export type Performed = { body: Buffer; items: number; sent?: number }

/** Protocol of a client. `A` is a judged request with its login. */
export type WireProtocol<A, C extends PooledConnection> = {
  peer: PeerNames
  placeOf(operation: A): WirePlace
  /** Parts of the key of kept connections, in addition to connector, tenant and server. */
  keyOf(operation: A): readonly (string | null)[]
  open(operation: A, deps: WireConnectDeps): Promise<C>
  perform(operation: A, lease: Lease<C>, leftMs: number): Promise<Performed>
  /** Maximum number of items in a reply. */
  maxItemsOf(operation: A): number
  parkedIdOf(operation: A): string | undefined
  /** Whether the request may be sent again if the server had closed a kept connection. */
  mayRepeat(operation: A): boolean
  failureOf(error: unknown, guard: C['guard'], from: string): RuntimeError
  /** Whether a connection with a parked result can serve another request. True by default. */
  canLeaveParked?: boolean
  /** Whether the server answered with an error, or Keyway in its place: the connection is still usable. */
  isServerError(error: RuntimeError): boolean
  /** Prepares a connection for the next request after an error of the server. */
  mend?(lease: Lease<C>): Promise<void>
  /** Resets the session after a request. The connection is not used again before that. Never rejects. */
  reset?(connection: C): Promise<void>
  /** Ends, on the server, the operation of a call that has ended. */
  stop?(operation: A, connection: C, deps: WireConnectDeps): Promise<void>
}

export type WireClient<A> = {
  /**
   * Performs a judged request. If the server had closed a kept connection, a read is sent again on a new one.
   *
   * @throws egress_private, egress_concurrency, upstream_*, and the errors of the protocol
   */
  perform(operation: A, deps: WireDeps): Promise<Performed>
  /** Returns the number of open connections of the process. */
  connections(): number
  close(): void
}

export type WireClientOptions = {
  privateGrants: PrivateGrants
  plainGrants: PrivateGrants
  limits: EgressLimits
  resolve?: ResolveName
}

/** Timeout of ending an operation on the server, and of resetting a session, in milliseconds. */
const STOP_MS = 2000

/** Maximum duration of one request, in milliseconds. */
const MAX_REQUEST_MS = 60_000

export function createWireClient<A, C extends PooledConnection>(
  protocol: WireProtocol<A, C>,
  { privateGrants, plainGrants, limits, resolve = resolveBySystem }: WireClientOptions,
): WireClient<A> {
  const lookupsOf = createLookupsOf(resolve)
  const pool = createPool<C>(protocol.peer, {
    ...DEFAULT_POOL,
    canLeaveParked: protocol.canLeaveParked ?? true,
  })

  function connectDepsFor({ connectorId }: WireDeps, signal: AbortSignal): WireConnectDeps {
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

  async function attempt(operation: A, deps: WireDeps, lease: Lease<C>): Promise<Performed> {
    const { signal, endMs } = deps
    const { connection } = lease
    const { guard } = connection
    const from = hostAndPort(protocol.placeOf(operation))
    let isSent = false
    const onAbort = () => {
      if (isSent && guard.isOpen()) {
        const stopping = connectDepsFor(deps, AbortSignal.timeout(STOP_MS))
        // No caller waits for it, and the server has its own timeout.
        protocol.stop?.(operation, connection, stopping).catch(() => {})
      }
      guard.end(endedError(signal, from))
    }
    signal.addEventListener('abort', onAbort, { once: true })
    const done = guard.allow({
      onBytes: deps.onBytes,
      read: deps.read,
      maxItems: protocol.maxItemsOf(operation),
    })
    try {
      if (signal.aborted) throw endedError(signal, from)
      deps.onSend()
      isSent = true
      const left = Math.min(endMs - Date.now(), MAX_REQUEST_MS)
      const found = await protocol.perform(operation, lease, left)
      isSent = false
      done()
      release(lease)
      return found
    } catch (error) {
      isSent = false
      const failure = protocol.failureOf(error, guard, from)
      // After any error other than one of the server, the state of the connection is unknown.
      const isGood = protocol.isServerError(failure) && (await mended(lease))
      done()
      if (isGood) release(lease)
      else lease.drop()
      throw failure
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /**
   * Returns a connection to the pool. Its session is reset after the answer, so the caller does not wait for
   * that.
   */
  function release(lease: Lease<C>): void {
    const { connection, parked } = lease
    const needsNone = protocol.reset === undefined || parked !== null || !connection.guard.isOpen()
    lease.release(needsNone ? null : reset(connection))
  }

  async function reset(connection: C): Promise<void> {
    const done = connection.guard.allow(OUTSIDE_CALLS)
    const timer = setTimeout(() => connection.guard.end(), STOP_MS)
    await protocol.reset?.(connection)
    clearTimeout(timer)
    done()
  }

  async function mended(lease: Lease<C>): Promise<boolean> {
    try {
      await protocol.mend?.(lease)
      return true
    } catch {
      return false
    }
  }

  return {
    async perform(operation, deps) {
      const { connectorId, tenant } = deps
      const { origin } = protocol.placeOf(operation)
      /** Owner of the connection. The tenant is a digest of settings and credentials, passwords included. */
      const key =
        tenant === undefined
          ? null
          : JSON.stringify([normalizeId(connectorId), tenant, origin, ...protocol.keyOf(operation)])
      const open = () => protocol.open(operation, connectDepsFor(deps, deps.signal))
      const lease = () => pool.lease(key, open, protocol.parkedIdOf(operation))
      const first = await lease()
      try {
        return await attempt(operation, deps, first)
      } catch (error) {
        const isGone = error instanceof RuntimeError && error.code === 'upstream_closed'
        if (!isGone || !first.isUsed || !protocol.mayRepeat(operation) || deps.signal.aborted)
          throw error
        // The server had closed a kept connection. A read can safely be sent again.
        return attempt(operation, deps, await lease())
      }
    },
    connections: () => pool.size(),
    close: () => pool.close(),
  }
}
