/** What the end of an isolate or a worker means for the calls that were in it. */
import { type RuntimeCode, RuntimeError } from '../contract/errors/errors.ts'
import type { Heads } from '../protocol/frames.ts'
import type { WorkerEnd } from './worker-link.ts'

/**
 * A call was lost with its sandbox. `innocent`: not by its own doing, as far as can be told. `slow`: because
 * something computed for too long on the main thread of its worker, which gets a thread of its own next time.
 */
export class SandboxLost extends RuntimeError {
  readonly innocent: boolean
  readonly slow: boolean

  constructor(code: RuntimeCode, message: string, innocent: boolean, slow = false) {
    super(code, message)
    this.innocent = innocent
    this.slow = slow
  }
}

/** The error of every call in an isolate that is gone. */
export function isolateError({ reason, message, at }: Heads['disposed']): RuntimeError {
  if (reason === 'memory')
    return new RuntimeError('isolate_memory', 'the connector ran out of memory')
  if (reason === 'load') {
    return new RuntimeError(
      'load_failed',
      `the connector could not be loaded: ${String(message).slice(0, 800)}`,
      { at },
    )
  }
  if (reason === 'cut') {
    return new SandboxLost(
      'isolate_disposed',
      'the call computed for longer than a slice',
      true,
      true,
    )
  }
  return new RuntimeError('isolate_disposed', 'the sandbox of this call was ended')
}

/** The error of a call that had no answer in time. */
export const overdueError = (): RuntimeError =>
  new RuntimeError('deadline_passed', 'no answer before the deadline of the call')

/** The error of a call in an isolate that another call of its tenant holds up. */
export const heldUpError = (): RuntimeError =>
  new SandboxLost('isolate_disposed', 'another call of this tenant would not end', true)

/** Ends of a worker that none of its calls has brought about. */
const FROM_OUTSIDE: readonly WorkerEnd['reason'][] = ['killed', 'crowded', 'unstarted']

/** The error of every call in a worker that has exited. `calls`: their number, including abandoned ones. */
export function workerError({ reason }: WorkerEnd, calls: number): RuntimeError {
  if (reason === 'stopped') return new RuntimeError('stopping', 'the runtime is stopping')
  const slow = reason === 'stalled'
  const innocent = calls > 1 || slow || FROM_OUTSIDE.includes(reason)
  if (reason === 'memory') {
    const message = 'the connector ran out of memory and its worker process ended'
    return new SandboxLost('worker_memory', message, innocent)
  }
  const message =
    reason === 'unstarted'
      ? 'no worker process could be started; the call may be repeated'
      : 'the worker process of the connector died; the call may be repeated'
  return new SandboxLost('worker_died', message, innocent, slow)
}

/** Longest part of a worker's last words in an error, in characters. */
const WORDS_LENGTH = 200

/** The line of Node's report of an error that says what it is; anything else it says names files of this machine. */
const ERROR_LINE = /^\w*Error\b.*$/m

/** The error of every call that waits for a worker that ended before it was ready: no connector's code has run in it. */
export function unreadyError(end: WorkerEnd): RuntimeError {
  const [words] = ERROR_LINE.exec(end.detail) ?? []
  const error = workerError(end, 0)
  if (end.reason !== 'crashed' || words === undefined) return error
  const message = `the worker process of the connector could not begin: ${words.slice(0, WORDS_LENGTH)}`
  return new SandboxLost('worker_died', message, false)
}

/** Whether the end of a worker says something about the connectors in it. */
export const isGuilty = ({ reason }: WorkerEnd): boolean =>
  reason !== 'stopped' && !FROM_OUTSIDE.includes(reason)

/** What was thrown on the way to a worker. */
export function toLaneError(error: unknown): RuntimeError {
  if (error instanceof RuntimeError) return error
  return new RuntimeError('worker_died', 'no worker process could be used', {}, error)
}
