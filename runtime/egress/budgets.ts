/**
 * What is open in this process: the memory that bodies and replies hold, counted for a call, a connector
 * and all, and the requests of a connector.
 */
import { RuntimeError } from '../contract/errors.ts'
import { normalizeId } from '../contract/manifest.ts'
import type { EgressLimits } from './limits.ts'

/** What one request or reply holds, against every budget that it counts in. */
export type Holding = {
  /** @throws what the budget that is full says; then nothing of it is held. */
  add(amount: number): void
  /** Gives everything back. */
  release(): void
}

/** The budgets of one call. */
export type CallBudgets = {
  /**
   * For one request, until it has ended.
   *
   * @throws egress_concurrency
   */
  holdSlot(): Holding
  /** For a request's body, from when it is handed in until its last hop has ended. */
  holdRequest(): Holding
  /** For a reply, received and decoded, until it is handed over. */
  holdReply(): Holding
}

/** The budgets of one process; a function, because each call has some of its own. */
export type Budgets = (connectorId: string) => CallBudgets

/** Counted in bytes, or in requests. */
type Budget = { held: number; max: number; full(): RuntimeError }

/**
 * Creates the budgets of one process. An upstream that never reads, or that answers with much and
 * slowly, fills those of its call and of its connector before that of the process.
 *
 * Errors: egress_concurrency, and upstream_too_large for the replies of one call.
 */
export function createBudgets(limits: EgressLimits): Budgets {
  const { maxOpenRequestBytes, maxOpenReplyBytes } = limits
  const whole = createBudget(limits.maxProcessOpenBytes, processFull)
  const connectors = new Map<string, { bytes: Budget; slots: Budget }>()
  return (connectorId) => {
    const id = normalizeId(connectorId)
    const connector = connectors.get(id) ?? {
      bytes: createBudget(limits.maxConnectorOpenBytes, connectorFull),
      slots: createBudget(limits.maxConnectorOpenFetches, slotsTaken),
    }
    connectors.set(id, connector)
    const requests = createBudget(maxOpenRequestBytes, requestsFull)
    const replies = createBudget(maxOpenReplyBytes, repliesFull)
    return {
      holdSlot() {
        const slot = createHolding([connector.slots])
        slot.add(1)
        return slot
      },
      holdRequest: () => createHolding([requests, connector.bytes, whole]),
      holdReply: () => createHolding([replies, connector.bytes, whole]),
    }
  }
}

const createBudget = (max: number, full: (max: number) => RuntimeError): Budget => ({
  held: 0,
  max,
  full: () => full(max),
})

function createHolding(budgets: readonly Budget[]): Holding {
  let held = 0
  return {
    add(amount) {
      for (const budget of budgets) if (budget.held + amount > budget.max) throw budget.full()
      for (const budget of budgets) budget.held += amount
      held += amount
    },
    release() {
      for (const budget of budgets) budget.held -= held
      held = 0
    },
  }
}

const requestsFull = (maxBytes: number): RuntimeError =>
  new RuntimeError(
    'egress_concurrency',
    `The call has up to ${maxBytes} bytes of request bodies open: await some requests before sending more`,
  )

const repliesFull = (maxBytes: number): RuntimeError =>
  new RuntimeError(
    'upstream_too_large',
    `The call is receiving more than ${maxBytes} bytes at once`,
  )

const connectorFull = (maxBytes: number): RuntimeError =>
  new RuntimeError(
    'egress_concurrency',
    `All calls of this connector together have up to ${maxBytes} bytes of requests and replies open: send smaller ones, or fewer at once`,
  )

const slotsTaken = (max: number): RuntimeError =>
  new RuntimeError(
    'egress_concurrency',
    `All calls of this connector together have ${max} requests open: await some before sending more`,
  )

const processFull = (maxBytes: number): RuntimeError =>
  new RuntimeError(
    'egress_concurrency',
    `All connectors together have up to ${maxBytes} bytes of requests and replies open: try again later`,
  )
