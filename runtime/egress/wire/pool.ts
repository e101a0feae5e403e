/**
 * Connections that are kept for later requests of the same tenant, server and bind. Few for each key, bounded
 * in total, closed when idle.
 */
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { Guard } from './guard.ts'

/** Connection of a pool, and the guard of its socket. */
export type PooledConnection = { guard: Guard }

/**
 * Parked search: one with more pages, between two requests. It can continue only on the connection where it
 * began.
 */
export type Parked = {
  /** Id of the search in its cursor. */
  id: string
  /** Number of entries or rows returned so far. */
  given: number
  /** Whether its next page was requested already. Then the connection can serve no other request. */
  isAsked?: boolean
}

/** Connection while it serves one request. */
export type Lease<C extends PooledConnection> = {
  connection: C
  /** Whether it has served before. Then the server may have closed it since. */
  isUsed: boolean
  /** Search that is parked on it. */
  parked: Parked | null
  /**
   * Returns the connection to the pool. It is not leased again before `reset` has settled, which never
   * rejects.
   */
  release(reset: Promise<void> | null): void
  /** Ends the connection after a failure. */
  drop(): void
}

type PoolLimits = {
  perKey: number
  inAll: number
  idleMs: number
  /** Whether a connection with a parked search can serve another request, which ends the search. */
  canLeaveParked: boolean
}

export const DEFAULT_POOL: PoolLimits = {
  perKey: 8,
  inAll: 256,
  idleMs: 30_000,
  canLeaveParked: true,
}

type Pool<C extends PooledConnection> = {
  /**
   * Leases an idle connection of a key (the one with this parked search, if it exists), or a new one. A
   * connection with a null key is not kept.
   *
   * @throws egress_concurrency, and the errors of `open`
   */
  lease(key: string | null, open: () => Promise<C>, parkedId?: string): Promise<Lease<C>>
  /** Returns the number of open connections, busy and idle. */
  size(): number
  close(): void
}

type Kept<C> = {
  key: string | null
  connection: C
  parked: Parked | null
  isBusy: boolean
  /** Reset of its session, or null when it is done. */
  resetting: Promise<void> | null
  idle: NodeJS.Timeout | null
}

/** Name of the other end, for messages. */
export type PeerNames = { one: string; many: string }

/** Creates the pool of one host process. */
export function createPool<C extends PooledConnection>(
  peer: PeerNames,
  limits: PoolLimits = DEFAULT_POOL,
): Pool<C> {
  const all = new Set<Kept<C>>()
  /** Number of connections being opened, by key. They count as well. */
  const opening = new Map<string, number>()
  let openingInAll = 0

  function remove(one: Kept<C>): void {
    if (one.idle !== null) clearTimeout(one.idle)
    all.delete(one)
    one.connection.guard.end()
  }

  function release(one: Kept<C>, reset: Promise<void> | null): void {
    one.isBusy = false
    if (one.key === null || !one.connection.guard.isOpen()) return remove(one)
    const done = () => {
      one.resetting = null
    }
    one.resetting = reset?.then(done) ?? null
    one.idle = setTimeout(() => remove(one), limits.idleMs)
    one.idle.unref()
  }

  const leaseOf = (one: Kept<C>, isUsed: boolean): Lease<C> => ({
    connection: one.connection,
    isUsed,
    get parked() {
      return one.parked
    },
    set parked(parked) {
      one.parked = parked
    },
    release: (reset) => release(one, reset),
    drop: () => remove(one),
  })

  function take(one: Kept<C>): Lease<C> {
    one.isBusy = true
    if (one.idle !== null) clearTimeout(one.idle)
    one.idle = null
    return leaseOf(one, true)
  }

  /** Returns the best idle connection: with the requested search, else with none, else any. */
  function idleOf(key: string, parkedId?: string): Kept<C> | undefined {
    const idle = [...all].filter(
      (one) => one.key === key && !one.isBusy && one.connection.guard.isOpen(),
    )
    return (
      idle.find(({ parked }) => parkedId !== undefined && parked?.id === parkedId) ??
      idle.find(({ parked, resetting }) => parked === null && resetting === null) ??
      idle.find(({ parked }) => parked === null) ??
      (limits.canLeaveParked && heldBy(key) >= limits.perKey
        ? idle.find(({ parked }) => parked?.isAsked !== true)
        : undefined)
    )
  }

  /** Leases an idle connection of a key after its session is reset, or returns null. */
  async function takeIdle(key: string, parkedId?: string): Promise<Lease<C> | null> {
    for (;;) {
      const one = idleOf(key, parkedId)
      if (one === undefined) return null
      const taken = take(one)
      await one.resetting
      if (one.connection.guard.isOpen()) return taken
      remove(one)
    }
  }

  const heldBy = (key: string): number =>
    [...all].filter((one) => one.key === key).length + (opening.get(key) ?? 0)

  /** Ends an idle connection of a full key. Only a parked search kept it from being leased. */
  function endParked(key: string): void {
    const parked = [...all].find((one) => one.key === key && !one.isBusy)
    if (parked !== undefined) remove(parked)
  }

  /** Makes room for one more connection: closes the one that has been idle longest. */
  function makeRoom(): void {
    if (all.size + openingInAll < limits.inAll) return
    const oldest = [...all].find(({ isBusy }) => !isBusy)
    if (oldest === undefined)
      throw new RuntimeError(
        'egress_concurrency',
        `All connectors together have ${limits.inAll} connections to ${peer.many} open: try again later`,
      )
    remove(oldest)
  }

  return {
    async lease(key, open, parkedId) {
      const idle = key === null ? null : await takeIdle(key, parkedId)
      if (idle !== null) return idle
      const counted = key ?? ''
      if (key !== null && heldBy(key) >= limits.perKey) endParked(key)
      if (key !== null && heldBy(key) >= limits.perKey)
        throw new RuntimeError(
          'egress_concurrency',
          `All calls with these credentials together have ${limits.perKey} connections to the ${peer.one} open: await some requests before sending more`,
        )
      makeRoom()
      opening.set(counted, (opening.get(counted) ?? 0) + 1)
      openingInAll += 1
      try {
        const connection = await open()
        const made: Kept<C> = {
          key,
          connection,
          parked: null,
          isBusy: true,
          resetting: null,
          idle: null,
        }
        all.add(made)
        connection.guard.socket.once('close', () => {
          if (!made.isBusy) remove(made)
        })
        return leaseOf(made, false)
      } finally {
        openingInAll -= 1
        const left = (opening.get(counted) ?? 1) - 1
        if (left === 0) opening.delete(counted)
        else opening.set(counted, left)
      }
    },
    size: () => all.size,
    close() {
      for (const one of all) remove(one)
    },
  }
}
