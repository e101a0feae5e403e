/**
 * Open resources of this process: memory of bodies and replies, counted per call, per connector and in total,
 * and open requests per connector.
 */

import { isFairShare } from '../../bounded/fair-share.ts'
import { normalizeId } from '../../contract/connector/manifest.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { EgressLimits } from './limits.ts'
import { createPace, type ReadPace } from './pace.ts'

/** Amount that one request or reply holds, counted in several budgets. */
export type Holding = {
  /** Holds more. @throws the error of the full budget; then nothing of the amount is held */
  add(amount: number): void
  /** Releases the whole amount. */
  release(): void
}

/** Budgets of one call. */
export type CallBudgets = {
  /**
   * Holds one request until it has ended.
   *
   * @throws egress_concurrency
   */
  holdSlot(): Holding
  /** Holds a request's body, from its submission until its last hop has ended. */
  holdRequest(): Holding
  /** Holds a reply, as received and decoded, until it is handed over. */
  holdReply(): Holding
  /** Counts bytes read of a reply. @returns how long to wait before reading on, in milliseconds */
  read(bytes: number): number
}

/**
 * Returns the budgets of a call. Some belong to the call alone, the others to the process. `tenant`
 * identifies the call's tenant among those of its connector. Without it, the call counts toward no tenant's
 * share.
 */
export type Budgets = (connectorId: string, tenant?: string) => CallBudgets

/** Counter of bytes or requests. */
type Counter = {
  held: number
  /** Returns the error if `amount` more may not be held, else null. */
  refuse(amount: number): RuntimeError | null
}
type Budget = Counter & { max: number }
/** Amounts that one tenant holds of its connector's budgets. */
type Tenant = { slots: Counter; bytes: Counter; pace: ReadPace }
type Connector = {
  bytes: Budget
  slots: Budget
  ofWhole: Counter
  pace: ReadPace
  tenants: Map<string, Tenant>
}

/**
 * Creates the budgets of one process. An upstream that never reads, or that sends large answers slowly, fills
 * the budgets of its call and of its connector before that of the process. No connector or tenant can hold
 * all of a shared budget.
 *
 * Errors: egress_concurrency, and upstream_too_large for the replies of one call.
 */
export function createBudgets(
  limits: EgressLimits,
  onRefused: (connectorId: string) => void = () => {},
): Budgets {
  const { maxOpenRequestBytes, maxOpenReplyBytes } = limits
  const whole = createBudget(limits.maxProcessOpenBytes, processFull)
  const connectors = new Map<string, Connector>()

  const connectorOf = (id: string): Connector => {
    const known = connectors.get(id)
    if (known) return known
    const made = {
      bytes: createBudget(limits.maxConnectorOpenBytes, connectorFull),
      slots: createBudget(limits.maxConnectorOpenFetches, slotsTaken),
      ofWhole: createShare(whole, connectorsShare),
      pace: createPace(limits.connectorReadBytesPerSecond, limits.readBurstBytes),
      tenants: new Map(),
    }
    connectors.set(id, made)
    return made
  }

  return (connectorId, tenant) => {
    const id = normalizeId(connectorId)
    const connector = connectorOf(id)
    const requests = createBudget(maxOpenRequestBytes, requestsFull)
    const replies = createBudget(maxOpenReplyBytes, repliesFull)
    const hold = (of: 'slots' | 'bytes', ...counters: Counter[]): Holding => {
      const mine = tenant === undefined ? null : tenantOf(connector, tenant, limits)
      const all = mine === null ? counters : [...counters, mine[of]]
      return createHolding(all, {
        onRefused: () => onRefused(connectorId),
        onReleased() {
          if (tenant !== undefined && mine?.slots.held === 0 && mine.bytes.held === 0)
            connector.tenants.delete(tenant)
        },
      })
    }
    return {
      holdSlot() {
        const slot = hold('slots', connector.slots)
        slot.add(1)
        return slot
      },
      holdRequest: () => hold('bytes', requests, connector.bytes, whole, connector.ofWhole),
      holdReply: () => hold('bytes', replies, connector.bytes, whole, connector.ofWhole),
      read(bytes) {
        const waitMs = connector.pace.read(bytes)
        const mine = tenant === undefined ? undefined : connector.tenants.get(tenant)
        return Math.max(waitMs, mine?.pace.read(bytes) ?? 0)
      },
    }
  }
}

function tenantOf(
  { slots, bytes, tenants }: Connector,
  name: string,
  { readBytesPerSecond, readBurstBytes }: EgressLimits,
): Tenant {
  const known = tenants.get(name)
  if (known) return known
  const made = {
    slots: createShare(slots, slotsOfTenant),
    bytes: createShare(bytes, bytesOfTenant),
    pace: createPace(readBytesPerSecond, readBurstBytes),
  }
  tenants.set(name, made)
  return made
}

const createBudget = (max: number, full: (max: number) => RuntimeError): Budget => ({
  held: 0,
  max,
  refuse(amount) {
    return this.held + amount > max ? full(max) : null
  },
})

const createShare = (of: Budget, over: (held: number) => RuntimeError): Counter => ({
  held: 0,
  refuse(amount) {
    // A holder of nothing may take the last of the budget.
    const fair = this.held === 0 || isFairShare(this.held + amount, of.max - of.held - amount)
    return fair ? null : over(this.held)
  },
})

function createHolding(
  counters: readonly Counter[],
  { onRefused, onReleased }: { onRefused(): void; onReleased(): void },
): Holding {
  let held = 0
  return {
    add(amount) {
      for (const counter of counters) {
        const error = counter.refuse(amount)
        if (error === null) continue
        onRefused()
        throw error
      }
      for (const counter of counters) counter.held += amount
      held += amount
    },
    release() {
      for (const counter of counters) counter.held -= held
      held = 0
      onReleased()
    },
  }
}

const busy = (words: string): RuntimeError => new RuntimeError('egress_concurrency', words)

const requestsFull = (maxBytes: number): RuntimeError =>
  busy(
    `The call has up to ${maxBytes} bytes of request bodies open: await some requests before sending more`,
  )

const repliesFull = (maxBytes: number): RuntimeError =>
  new RuntimeError(
    'upstream_too_large',
    `The call is receiving more than ${maxBytes} bytes at once`,
  )

const connectorFull = (maxBytes: number): RuntimeError =>
  busy(
    `All calls of this connector together have up to ${maxBytes} bytes of requests and replies open: send smaller ones, or fewer at once`,
  )

const slotsTaken = (max: number): RuntimeError =>
  busy(
    `All calls of this connector together have ${max} requests open: await some before sending more`,
  )

const processFull = (maxBytes: number): RuntimeError =>
  busy(
    `All connectors together have up to ${maxBytes} bytes of requests and replies open: try again later`,
  )

const slotsOfTenant = (held: number): RuntimeError =>
  busy(
    `All calls with these credentials together have ${held} requests open, and the rest is for others: await some before sending more`,
  )

const bytesOfTenant = (held: number): RuntimeError =>
  busy(
    `All calls with these credentials together have ${held} bytes of requests and replies open, and the rest is for others: send smaller ones, or fewer at once`,
  )

const connectorsShare = (held: number): RuntimeError =>
  busy(
    `All calls of this connector together have ${held} bytes of requests and replies open, and the rest is for other connectors: send smaller ones, or fewer at once`,
  )
