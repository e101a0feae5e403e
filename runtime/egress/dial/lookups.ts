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

/** Someone who waits for a lookup. */
type Asker = {
  /** Ends the wait, but not a running lookup: it cannot be stopped, and others may wait for it. */
  signal?: AbortSignal | undefined
  timeoutMs: number
  /** The error if the wait ends before the answer. */
  ended(): Error
}

/** A name that is being looked up. */
type Question = {
  hostname: string
  /** How many wait for the answer. */
  askers: number
  isRunning: boolean
  answer: PromiseWithResolvers<readonly string[]>
}

export type Lookups = (hostname: string, asker?: Asker) => Promise<readonly string[]>

/**
 * Makes a lookup that runs few at once and answers equal questions asked at the same time with one.
 * Nothing is cached. A running lookup that nobody waits for still counts as running, because its thread is busy; a queued
 * one is dropped.
 *
 * Errors: upstream_connect_timeout when too many wait; what `resolve` rejects with; what the asker says.
 *
 * @param onIdle Called when no lookup runs any more.
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
    // By the time it fails, nobody may be waiting.
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

/** Lookups per connector, for connections that are made for one call each. */
export function createLookupsOf(resolve: ResolveName): (connectorId: string) => Lookups {
  /** Connectors with running lookups, which may have outlived their call. */
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
