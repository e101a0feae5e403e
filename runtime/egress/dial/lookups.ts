/** Name lookups of one connector: few at once, because the system's lookup holds a thread of the process. */
import { lookup } from 'node:dns/promises'
import { RuntimeError } from '../../contract/errors/errors.ts'

/** All addresses of a name, in the order in which to try them. */
export type ResolveName = (hostname: string) => Promise<readonly string[]>

/** The system's own lookup: hosts file, search domains and all. */
export const resolveBySystem: ResolveName = async (hostname) =>
  (await lookup(hostname, { all: true, order: 'verbatim' })).map(({ address }) => address)

/** Lookups that one connector may have running; a name server that never answers holds no more threads. */
const MAX_RUNNING = 4

/** Lookups that may wait behind them. */
const MAX_WAITING = 256

/**
 * Makes a lookup that runs few at once and answers equal questions asked at the same time with one.
 * Nothing is kept: the next question asks again.
 *
 * Errors: upstream_connect_timeout when too many wait; what `resolve` rejects with.
 */
export function createLookups(resolve: ResolveName): ResolveName {
  const open = new Map<string, Promise<readonly string[]>>()
  const waiting: (() => void)[] = []
  let running = 0

  const run: ResolveName = async (hostname) => {
    if (running < MAX_RUNNING) running += 1
    else if (waiting.length < MAX_WAITING) await new Promise<void>((turn) => waiting.push(turn))
    else
      throw new RuntimeError(
        'upstream_connect_timeout',
        `${hostname} was not looked up: ${MAX_WAITING} other names of this connector are waiting`,
      )
    try {
      return await resolve(hostname)
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }

  return (hostname) => {
    const asked = open.get(hostname)
    if (asked !== undefined) return asked
    const answer = run(hostname).finally(() => open.delete(hostname))
    open.set(hostname, answer)
    return answer
  }
}
