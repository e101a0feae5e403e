/** Errors of calls whose isolate or worker has ended. */
import { type RuntimeCode, RuntimeError } from '../contract/errors/errors.ts'
import type { Heads } from '../protocol/frames.ts'
import type { WorkerEnd } from './worker-link.ts'

/**
 * A call was lost with its sandbox. `innocent`: not caused by the call itself, as far as known. `slow`: some
 * call used the worker's main thread for too long; that capability runs on a thread of its own next time.
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

/** Returns the error of every call in a disposed isolate. */
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

/** Returns the error of a call that did not answer in time. */
export const overdueError = (): RuntimeError =>
  new RuntimeError('deadline_passed', 'no answer before the deadline of the call')

/** Returns the error of a call in an isolate that is blocked by another call of its tenant. */
export const heldUpError = (): RuntimeError =>
  new SandboxLost('isolate_disposed', 'another call of this tenant would not end', true)

/** Ends of a worker that were not caused by its calls. */
const FROM_OUTSIDE: readonly WorkerEnd['reason'][] = ['killed', 'crowded', 'unstarted']

/**
 * Returns the error of every call in a worker that has exited. `calls`: their number, including orphaned
 * ones.
 */
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

/** Maximum length of a worker's last output in an error, in characters. */
const WORDS_LENGTH = 200

/**
 * Matches the line of Node's error report with the error itself. The other lines contain file names of this
 * machine.
 */
const ERROR_LINE = /^\w*Error\b.*$/m

/**
 * Returns the error of every call that waited for a worker that ended before it was ready. No connector code
 * had run in it.
 */
export function unreadyError(end: WorkerEnd): RuntimeError {
  const [words] = ERROR_LINE.exec(end.detail) ?? []
  const error = workerError(end, 0)
  if (end.reason !== 'crashed' || words === undefined) return error
  const message = `the worker process of the connector could not begin: ${words.slice(0, WORDS_LENGTH)}`
  return new SandboxLost('worker_died', message, false)
}

/** Reports whether the end of a worker counts against its connectors. */
export const isGuilty = ({ reason }: WorkerEnd): boolean =>
  reason !== 'stopped' && !FROM_OUTSIDE.includes(reason)

/** Converts an error thrown on the way to a worker. */
export function toLaneError(error: unknown): RuntimeError {
  if (error instanceof RuntimeError) return error
  return new RuntimeError('worker_died', 'no worker process could be used', {}, error)
}
