/** What the end of an isolate or a worker means for the calls that were in it. */
import { RuntimeError } from '../contract/errors.ts'
import type { Heads } from '../contract/frames.ts'
import type { WorkerEnd } from './worker-link.ts'

/** The error of every call in an isolate that is gone. */
export function isolateError({ reason, message, at }: Heads['disposed']): RuntimeError {
  if (reason === 'memory') {
    return new RuntimeError('isolate_memory', 'the connector ran out of memory')
  }
  if (reason === 'load') {
    return new RuntimeError(
      'load_failed',
      `the connector could not be loaded: ${String(message).slice(0, 800)}`,
      { at },
    )
  }
  return new RuntimeError('isolate_disposed', 'the sandbox of this call was ended')
}

/** The error of every call in a worker that has ended. */
export function workerError({ reason }: WorkerEnd): RuntimeError {
  if (reason === 'memory') {
    return new RuntimeError(
      'isolate_memory',
      'the connector ran out of memory and its worker process ended',
    )
  }
  if (reason === 'stopped') return new RuntimeError('stopping', 'the runtime is stopping')
  return new RuntimeError(
    'worker_died',
    'the worker process of the connector died; the call may be repeated',
  )
}
