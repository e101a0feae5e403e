import { nextId, post, tryPost } from './bridge.ts'
import { LIMITS } from './limits.ts'
import { reportThrown } from './log.ts'
import { attempt } from './own.ts'
import { mapDelete, mapForEach, mapGet, mapSet, mapSize, SafeMap } from './primordials.ts'

type Timer = {
  callback: (...args: unknown[]) => unknown
  ms: number
  repeat: boolean
  args: unknown[]
}

const MAX_MS = 0x7fffffff
const timers = new SafeMap<number, Timer>()

/**
 * Opens a timer with the host and returns its id.
 *
 * @throws RangeError over the limit of open timers, TypeError if the callback is not a function
 */
export function setTimer(
  callback: (...args: unknown[]) => unknown,
  delayMs: unknown,
  repeat: boolean,
  args: unknown[],
): number {
  if (typeof callback !== 'function') throw new TypeError('the timer callback is not a function')
  if (mapSize(timers) >= LIMITS.openTimers)
    throw new RangeError(`too many timers are open: the limit is ${LIMITS.openTimers}`)
  const given = Number(delayMs)
  const ms = given >= 0 && given <= MAX_MS ? given - (given % 1) : 0
  const id = nextId()
  post('timer', id, `{"ms":${ms}}`, '')
  mapSet(timers, id, { callback, ms: repeat && ms < 1 ? 1 : ms, repeat, args })
  return id
}

/** Closes a timer. Ignores unknown ids. */
export function clearTimer(id: unknown): void {
  if (typeof id === 'number' && mapDelete(timers, id)) tryPost('timer_clear', id, '{}', '')
}

/** Fires a timer. Returns false if no timer has this id. */
export function fireTimer(id: number): boolean {
  const timer = mapGet(timers, id)
  if (timer === undefined) return false
  if (!timer.repeat) mapDelete(timers, id)
  attempt(timer.callback, undefined, timer.args, report)
  // Unless it was cleared in its own callback, or by the end of the last call.
  if (timer.repeat && mapGet(timers, id) === timer) {
    if (!tryPost('timer', id, `{"ms":${timer.ms}}`, '')) mapDelete(timers, id)
  }
  return true
}

/** Closes every timer: no call is left that could wait for one. */
export function clearAllTimers(): void {
  if (mapSize(timers) > 0) mapForEach(timers, (_timer, id) => clearTimer(id))
}

type Callback = (...args: unknown[]) => unknown

export function setTimeout(callback: Callback, ms?: number, ...args: unknown[]): number {
  return setTimer(callback, ms, false, args)
}

export function setInterval(callback: Callback, ms?: number, ...args: unknown[]): number {
  return setTimer(callback, ms, true, args)
}

/** Runs a callback as a microtask. Logs what it throws. */
export function queueMicrotask(callback: () => void): void {
  if (typeof callback !== 'function') throw new TypeError('the callback is not a function')
  void Promise.resolve().then(() => attempt(callback, undefined, [], reportMicrotask))
}

function report(thrown: unknown): void {
  reportThrown('a timer', thrown)
}

function reportMicrotask(thrown: unknown): void {
  reportThrown('a microtask', thrown)
}
