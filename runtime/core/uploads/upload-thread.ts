/**
 * Processes large uploads in a worker thread: parsing and validating eight megabytes of rows takes 0.2 s.
 * There is one thread per host, started on demand.
 */
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import type { ParsedBody } from '../../contract/endpoints/body.ts'
import { type RuntimeCode, RuntimeError } from '../../contract/errors/errors.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import { marksIn } from '../../contract/limits/reply-limits.ts'
import type { UploadKind } from '../../contract/models/upload.ts'
import { parse, type Staged, stage, type UploadWork } from './work.ts'

/**
 * Uploads below these limits, in bytes and in structural characters (see `marksIn`), are processed on the
 * main thread, in about 10 ms at most.
 */
const SMALL_BYTES = 128 * 1024
const SMALL_MARKS = 16_384
/** Maximum number of queued tasks, each with up to eight megabytes. */
const MAX_WAITING = 16
/** Idle time after which the thread ends, in milliseconds. */
const IDLE_MS = 30_000
/** Heap limit of the thread, in MiB; the largest upload takes about 150. */
const MEMORY_MIB = 512

/** With this file's extension, which is `.js` in the installed package. */
const THREAD = path.join(import.meta.dirname, `thread${path.extname(import.meta.filename)}`)

/** Message from the thread. */
export type ThreadAnswer = { id: number } & (
  | { done: ParsedBody | Staged }
  | { refused: { code: RuntimeCode; message: string } }
  | { failed: string }
)

type Waiting = { resolve(value: ParsedBody | Staged): void; reject(error: Error): void }

let thread: { worker: Worker; waiting: Map<number, Waiting>; idle: NodeJS.Timeout | null } | null =
  null
let lastId = 0

/**
 * Parses the body of an upload. @throws `body_too_large`, CoreError `unavailable` if too many tasks are
 * queued
 */
export async function parseUpload(
  kind: UploadKind,
  bytes: Uint8Array,
  isJson: boolean,
): Promise<ParsedBody> {
  const isSmall = bytes.length <= SMALL_BYTES && marksIn(bytes, SMALL_MARKS) <= SMALL_MARKS
  if (isSmall) return parse({ kind, bytes, isJson })
  // The cast is safe: `apart` returns the result of `done` for a task of this name.
  return (await apart({ name: 'parse', kind, bytes, isJson })) as ParsedBody
}

/**
 * Returns the rows of a stored upload, from its text, for a temporary table. @throws CoreError `unavailable`
 * if too many tasks are queued
 */
export async function stageUpload(kind: UploadKind, text: string): Promise<Staged> {
  if (text.length <= SMALL_BYTES) return stage({ kind, text })
  // The cast is safe, as above.
  return (await apart({ name: 'stage', kind, text })) as Staged
}

function apart(work: UploadWork): Promise<ParsedBody | Staged> {
  thread ??= begin()
  const { worker, waiting } = thread
  if (waiting.size >= MAX_WAITING)
    throw new CoreError('unavailable', 'Too many uploads at once; nothing was done, try again', {
      retryAfterSeconds: 2,
    })
  if (thread.idle) clearTimeout(thread.idle)
  lastId += 1
  const id = lastId
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject })
    worker.ref()
    worker.postMessage({ id, work })
  })
}

function begin(): NonNullable<typeof thread> {
  const limits = { maxOldGenerationSizeMb: MEMORY_MIB }
  const worker = new Worker(THREAD, { resourceLimits: limits })
  const made: NonNullable<typeof thread> = { worker, waiting: new Map(), idle: null }
  worker.on('message', (answer: ThreadAnswer) => {
    const one = made.waiting.get(answer.id)
    made.waiting.delete(answer.id)
    if (made.waiting.size === 0) rest(made)
    if ('done' in answer) one?.resolve(answer.done)
    else if ('refused' in answer)
      one?.reject(new RuntimeError(answer.refused.code, answer.refused.message))
    else one?.reject(new Error(answer.failed))
  })
  const end = (error: Error) => {
    if (thread === made) thread = null
    for (const { reject } of made.waiting.values()) reject(error)
    made.waiting.clear()
  }
  worker.on('error', end)
  worker.on('exit', () => end(new Error('the thread of uploads ended')))
  return made
}

/** Lets the process exit, and ends the thread after its idle time. */
function rest(one: NonNullable<typeof thread>): void {
  one.worker.unref()
  one.idle = setTimeout(() => {
    if (thread === one) thread = null
    void one.worker.terminate()
  }, IDLE_MS)
  one.idle.unref()
}
