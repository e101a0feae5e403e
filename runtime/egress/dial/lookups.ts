/**
 * Name lookups of one connector. Few run at once, because the system's lookup blocks a thread of the process.
 */
import { lookup } from 'node:dns/promises'
import { RuntimeError } from '../../contract/errors/errors.ts'

/** Returns all addresses of a name, in the order in which to try them. */
export type ResolveName = (hostname: string) => Promise<readonly string[]>

/** Looks a name up by the system: hosts file, search domains and all. */
export const resolveBySystem: ResolveName = async (hostname) =>
  (await lookup(hostname, { all: true, order: 'verbatim' })).map(({ address }) => address)

/**
 * Maximum number of a connector's running lookups. A name server that never answers holds no more threads.
 */
const MAX_RUNNING = 4

/** Maximum number of queued lookups. */
const MAX_WAITING = 256

/** Waiting caller of a lookup. */
type Asker = {
  /** Ends the wait, but not a running lookup: it cannot be stopped, and other callers may wait for it. */
  signal?: AbortSignal | undefined
  timeoutMs: number
  /** Returns the error if the wait ends before the answer. */
  ended(): Error
}

/** Name that is being looked up. */
type Question = {
  hostname: string
  /** Number of callers that wait for the answer. */
  askers: number
  isRunning: boolean
  answer: PromiseWithResolvers<readonly string[]>
}

export type Lookups = (hostname: string, asker?: Asker) => Promise<readonly string[]>

/**
 * Creates a lookup that runs few at once, and one for all concurrent callers of the same name. Nothing is
 * cached. A running lookup without waiting callers still counts as running, because its thread is busy. A
 * queued one is dropped.
 *
 * Errors: upstream_connect_timeout if too many wait; the error of `resolve`; the caller's own from `ended`.
 *
 * @param onIdle Called when no lookup is running any more.
 */
export function createLookups(resolve: ResolveName, onIdle: () => void = () => {}): Lookups {
  const open = new Map<string, Question>()
  const waiting = new Set<Question>()
  let running = 0

  function run(question: Question): void {
    question.isRunning = true
    running += 1
    const over = () => {
      open.delete(question.hostname)
      running -= 1
      const [next] = waiting
      if (next === undefined) {
        if (running === 0) onIdle()
        return
      }
      waiting.delete(next)
      run(next)
    }
    resolve(question.hostname).finally(over).then(question.answer.resolve, question.answer.reject)
  }

  function ask(hostname: string): Question {
    if (running >= MAX_RUNNING && waiting.size >= MAX_WAITING)
      throw new RuntimeError(
        'upstream_connect_timeout',
        `${hostname} was not looked up: ${MAX_WAITING} other names of this connector are waiting`,
      )
    const answer = Promise.withResolvers<readonly string[]>()
    // By the time it fails, no caller may be waiting.
    answer.promise.catch(() => {})
    const question = { hostname, askers: 0, isRunning: false, answer }
    open.set(hostname, question)
    if (running < MAX_RUNNING) run(question)
    else waiting.add(question)
    return question
  }

  function leave(question: Question): void {
    question.askers -= 1
    if (question.askers > 0 || question.isRunning) return
    waiting.delete(question)
    open.delete(question.hostname)
  }

  return async (hostname, asker) => {
    const question = open.get(hostname) ?? ask(hostname)
    question.askers += 1
    if (asker === undefined) return question.answer.promise
    const { signal, timeoutMs, ended } = asker
    const gone = Promise.withResolvers<never>()
    const end = () => gone.reject(ended())
    const timer = setTimeout(end, timeoutMs)
    signal?.addEventListener('abort', end, { once: true })
    try {
      return await Promise.race([question.answer.promise, gone.promise])
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      leave(question)
    }
  }
}

/** Returns the lookups of a connector, for connections that serve one call each. */
export function createLookupsOf(resolve: ResolveName): (connectorId: string) => Lookups {
  /** Connectors with running lookups, which may outlive their call. */
  const busy = new Map<string, Lookups>()
  return (connectorId) => {
    const known = busy.get(connectorId)
    if (known !== undefined) return known
    const lookups = createLookups(resolve, () => busy.delete(connectorId))
    return (hostname, asker) => {
      const current = busy.get(connectorId) ?? lookups
      busy.set(connectorId, current)
      return current(hostname, asker)
    }
  }
}
