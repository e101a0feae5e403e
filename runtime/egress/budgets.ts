/** The memory that bodies and replies hold in this process, counted for a call, a connector and all. */
import { RuntimeError } from '../contract/errors.ts'
import { normalizeId } from '../contract/manifest.ts'
import type { EgressLimits } from './limits.ts'

/** What one request or reply holds, against every budget that it counts in. */
export type Holding = {
  /** @throws what the budget that is full says; then nothing of it is held. */
  add(bytes: number): void
  /** Gives everything back. */
  release(): void
}

/** The budgets of one call. */
export type CallBudgets = {
  /** For a request's body, from when it is handed in until its last hop has ended. */
  holdRequest(): Holding
  /** For a reply, received and decoded, until it is handed over. */
  holdReply(): Holding
}

/** The budgets of one process; a function, because each call has some of its own. */
export type Budgets = (connectorId: string) => CallBudgets

type Budget = { heldBytes: number; maxBytes: number; full(): RuntimeError }

/**
 * Creates the budgets of one process. An upstream that never reads, or that answers with much and
 * slowly, fills those of its call and of its connector before that of the process.
 *
 * Errors: egress_concurrency, and upstream_too_large for the replies of one call.
 */
export function createBudgets(limits: EgressLimits): Budgets {
  const { maxOpenRequestBytes, maxOpenReplyBytes } = limits
  const whole = createBudget(limits.maxProcessOpenBytes, processFull)
  const connectors = new Map<string, Budget>()
  return (connectorId) => {
    const id = normalizeId(connectorId)
    const connector =
      connectors.get(id) ?? createBudget(limits.maxConnectorOpenBytes, connectorFull)
    connectors.set(id, connector)
    const requests = createBudget(maxOpenRequestBytes, requestsFull)
    const replies = createBudget(maxOpenReplyBytes, repliesFull)
    return {
      holdRequest: () => createHolding([requests, connector, whole]),
      holdReply: () => createHolding([replies, connector, whole]),
    }
  }
}

const createBudget = (maxBytes: number, full: (maxBytes: number) => RuntimeError): Budget => ({
  heldBytes: 0,
  maxBytes,
  full: () => full(maxBytes),
})

function createHolding(budgets: readonly Budget[]): Holding {
  let held = 0
  return {
    add(bytes) {
      for (const budget of budgets)
        if (budget.heldBytes + bytes > budget.maxBytes) throw budget.full()
      for (const budget of budgets) budget.heldBytes += bytes
      held += bytes
    },
    release() {
      for (const budget of budgets) budget.heldBytes -= held
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

const processFull = (maxBytes: number): RuntimeError =>
  new RuntimeError(
    'egress_concurrency',
    `All connectors together have up to ${maxBytes} bytes of requests and replies open: try again later`,
  )
