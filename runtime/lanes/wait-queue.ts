/**
 * Queue for the isolates of one worker. It is bounded; when it is full, calls of the owner that floods are
 * rejected.
 */
import { RuntimeError } from '../contract/errors/errors.ts'

/** A call that needs an isolate. */
export type Ticket = {
  /** Digest of the connector. */
  connector: string
  isolateKey: string
  enter(isolate: number): void
  /** The worker ended while the call waited. */
  again(): void
  /** Rejects the call: its place was needed for a tenant with fewer calls in the queue. */
  refuse(error: RuntimeError): void
}

type WaitQueue = {
  /**
   * Adds a ticket at the end. In a full queue the newest ticket of the owner with most tickets is rejected:
   * of the connector, then of the tenant.
   *
   * @throws queue_full if that is the owner of the new ticket
   */
  add(ticket: Ticket): void
  delete(ticket: Ticket): void
  has(ticket: Ticket): boolean
  /** Reports whether a call of this connector waits. */
  holds(connector: string): boolean
  /** Waiting tickets, oldest first. */
  tickets(): Ticket[]
  readonly size: number
}

export function createWaitQueue(maxWaiting: number): WaitQueue {
  const line = new Set<Ticket>()

  function makePlace(newcomer: Ticket): void {
    const error = new RuntimeError(
      'queue_full',
      `${maxWaiting} calls are waiting for a sandbox; send fewer at once`,
    )
    const rejected = ticketToReject([...line], newcomer)
    if (rejected === null) throw error
    line.delete(rejected)
    rejected.refuse(error)
  }

  return {
    add(ticket) {
      if (line.size >= maxWaiting) makePlace(ticket)
      line.add(ticket)
    },
    delete: (ticket) => void line.delete(ticket),
    has: (ticket) => line.has(ticket),
    holds(connector) {
      for (const one of line) if (one.connector === connector) return true
      return false
    },
    tickets: () => [...line],
    get size() {
      return line.size
    },
  }
}

/**
 * Returns the ticket to reject for a new one; null if no owner has more tickets than the new one's would
 * have.
 */
function ticketToReject(tickets: Ticket[], newcomer: Ticket): Ticket | null {
  const connectors = Map.groupBy(tickets, ({ connector }) => connector)
  const ownConnector = connectors.get(newcomer.connector) ?? []
  const longestConnector = longest(connectors.values())
  const isMine = longestConnector.length <= ownConnector.length + 1
  const tenants = Map.groupBy(
    isMine ? ownConnector : longestConnector,
    ({ isolateKey }) => isolateKey,
  )
  const longestTenant = longest(tenants.values())
  const own = tenants.get(newcomer.isolateKey)?.length ?? 0
  return isMine && longestTenant.length <= own + 1 ? null : (longestTenant.at(-1) ?? null)
}

/** Returns the last of the longest groups. */
const longest = (groups: Iterable<Ticket[]>): Ticket[] =>
  [...groups].reduce((found, group) => (group.length >= found.length ? group : found), [])
