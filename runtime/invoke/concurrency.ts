/**
 * Bounded concurrency: so many calls of one tenant at once, so many of one connector waiting. A tenant
 * that floods waits behind itself, and where the line is full it is the flood that has to go. The bound is that
 * of the latest call: another version of the connector, or a grant, may have changed it.
 */

import { RuntimeError } from '../contract/errors/errors.ts'
import { CALLER_LIMITS } from '../contract/limits/caller-limits.ts'

/** How many calls of one tenant run at once. */
export type TurnBounds = { concurrency: number }

/** Most calls of one connector that may wait. */
export const MAX_WAITING: number = CALLER_LIMITS.waiting_calls.most

export type ConcurrencyLimit = {
  /** A turn if one is free now, without any waiting; null otherwise. */
  tryTake(connector: string, tenant: string, bounds: TurnBounds): (() => void) | null
  /**
   * Waits for a turn; the answer gives it back.
   *
   * @throws queue_full, also later, when a tenant with fewer calls needs the place; what `signal` was
   * aborted with.
   */
  take(
    connector: string,
    tenant: string,
    bounds: TurnBounds,
    signal: AbortSignal,
  ): Promise<() => void>
  /** Calls of all connectors that wait now. */
  readonly waiting: number
}

type Waiter = { enter(): void; refuse(error: RuntimeError): void }
type Line = { running: number; bounds: TurnBounds; waiting: Waiter[] }
/** The lines of one connector, by tenant. */
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

/** Lets those in who wait, as far as the bound allows. */
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
 * Sends the newest call of the longest line away for one of a shorter line.
 *
 * @throws queue_full where there is none.
 */
function makePlace({ tenants }: Lines, mine: Line): void {
  let longest = mine
  for (const line of tenants.values())
    if (line.waiting.length > longest.waiting.length) longest = line
  // Of two equally long ones the newcomer goes: they would send each other away in turn.
  if (longest.waiting.length <= mine.waiting.length + 1) throw queueFull()
  longest.waiting.pop()?.refuse(queueFull())
}

const queueFull = () =>
  new RuntimeError(
    'queue_full',
    `${MAX_WAITING} calls of this connector are waiting; send fewer at once`,
  )
