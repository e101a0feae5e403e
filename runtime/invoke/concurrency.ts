/**
 * Bounds concurrency: a maximum number of running calls per tenant, and of waiting calls per connector. A
 * tenant that floods waits behind its own calls, and its calls are rejected when the queue is full. The bound
 * is that of the latest call, since another version of the connector, or another grant, may have changed it.
 */

import { RuntimeError } from '../contract/errors/errors.ts'
import { CALLER_LIMITS } from '../contract/limits/caller-limits.ts'

/** Maximum number of concurrent calls of one tenant. */
export type TurnBounds = { concurrency: number }

/** Maximum number of waiting calls of one connector. */
export const MAX_WAITING: number = CALLER_LIMITS.waiting_calls.most

export type ConcurrencyLimit = {
  /** Returns the release function of a slot that is free now, without waiting; null if none is free. */
  tryTake(connector: string, tenant: string, bounds: TurnBounds): (() => void) | null
  /**
   * Waits for a slot. Returns the function that releases it.
   *
   * @throws queue_full, also later if a tenant with fewer calls needs the place; the abort reason of `signal`
   */
  take(
    connector: string,
    tenant: string,
    bounds: TurnBounds,
    signal: AbortSignal,
  ): Promise<() => void>
  /** Number of waiting calls of all connectors. */
  readonly waiting: number
}

type Waiter = { enter(): void; refuse(error: RuntimeError): void }
type Line = { running: number; bounds: TurnBounds; waiting: Waiter[] }
/** Queues of one connector, by tenant. */
type Lines = { tenants: Map<string, Line>; waiting: number }

export function createConcurrencyLimit(): ConcurrencyLimit {
  const connectors = new Map<string, Lines>()
  let allWaiting = 0

  const count = (lines: Lines, by: number) => {
    lines.waiting += by
    allWaiting += by
  }

  const linesOf = (connector: string): Lines => {
    const known = connectors.get(connector)
    if (known) return known
    const lines = { tenants: new Map(), waiting: 0 }
    connectors.set(connector, lines)
    return lines
  }

  const lineOf = ({ tenants }: Lines, tenant: string, bounds: TurnBounds): Line => {
    const known = tenants.get(tenant)
    if (known) return Object.assign(known, { bounds })
    const line = { running: 0, bounds, waiting: [] }
    tenants.set(tenant, line)
    return line
  }

  const leave = (connector: string, tenant: string, line: Line) => () => {
    line.running -= 1
    admit(line)
    if (line.running > 0) return
    const tenants = connectors.get(connector)?.tenants
    tenants?.delete(tenant)
    if (tenants?.size === 0) connectors.delete(connector)
  }

  function tryTake(connector: string, tenant: string, bounds: TurnBounds) {
    const line = lineOf(linesOf(connector), tenant, bounds)
    admit(line)
    if (line.running >= bounds.concurrency) return null
    line.running += 1
    return leave(connector, tenant, line)
  }

  return {
    tryTake,
    async take(connector, tenant, bounds, signal) {
      const free = tryTake(connector, tenant, bounds)
      if (free) return free
      signal.throwIfAborted()
      const lines = linesOf(connector)
      const line = lineOf(lines, tenant, bounds)
      if (lines.waiting >= MAX_WAITING) makePlace(lines, line)
      count(lines, 1)
      try {
        await wait(line, signal)
      } finally {
        count(lines, -1)
      }
      return leave(connector, tenant, line)
    },
    get waiting() {
      return allWaiting
    },
  }
}

/** Starts waiting calls as far as the bound allows. */
function admit(line: Line): void {
  while (line.running < line.bounds.concurrency && line.waiting.length > 0)
    line.waiting.shift()?.enter()
}

function wait(line: Line, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const waiter: Waiter = {
      enter() {
        signal.removeEventListener('abort', gone)
        line.running += 1
        resolve()
      },
      refuse(error) {
        signal.removeEventListener('abort', gone)
        reject(error)
      },
    }
    const gone = () => {
      line.waiting.splice(line.waiting.indexOf(waiter), 1)
      reject(signal.reason)
    }
    line.waiting.push(waiter)
    signal.addEventListener('abort', gone, { once: true })
  })
}

/**
 * Rejects the newest call of the longest queue in favour of a shorter one.
 *
 * @throws queue_full if no queue is longer
 */
function makePlace({ tenants }: Lines, mine: Line): void {
  let longest = mine
  for (const line of tenants.values())
    if (line.waiting.length > longest.waiting.length) longest = line
  // If two queues are equally long, reject the new call. Otherwise they would evict each other in turn.
  if (longest.waiting.length <= mine.waiting.length + 1) throw queueFull()
  longest.waiting.pop()?.refuse(queueFull())
}

const queueFull = () =>
  new RuntimeError(
    'queue_full',
    `${MAX_WAITING} calls of this connector are waiting; send fewer at once`,
  )
