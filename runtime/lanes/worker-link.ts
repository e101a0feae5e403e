/**
 * One running worker seen from the host: its process, its channel, and how it ended. Treats the other
 * side as hostile: a breach of the protocol ends the process.
 */
import * as v from 'valibot'
import { type Channel, openChannel } from '../protocol/channel.ts'
import { MAX_FRAME_PAYLOAD, type Message, ProtocolError } from '../protocol/frames.ts'
import { isUsualReply, WORKER_HEADS } from '../protocol/worker-heads.ts'
import type { Launcher } from './launch.ts'

/** Kinds without a schema are not for a host. */
const HEADS: Partial<Record<Message['kind'], v.GenericSchema>> = WORKER_HEADS

/**
 * Why a worker is no more; `killed` from outside, `crowded` by more tenants than it has memory for,
 * `stalled` because its main thread did not answer, `unstarted` because the system had no room for it.
 */
export type WorkerEnd = {
  reason:
    | 'unstarted'
    | 'stalled'
    | 'memory'
    | 'crowded'
    | 'killed'
    | 'protocol'
    | 'crashed'
    | 'stopped'
  /** As text, for the log: the last lines the process wrote, or the breach. */
  detail: string
}

export type WorkerLink = {
  readonly pid: number
  readonly send: Channel['send']
  /** Ends the process now. A worker is never asked to exit: after a native loop it could not. */
  kill(reason: WorkerEnd['reason'], detail: string): void
  /** What went wrong in the host because of this worker ends it, and nothing else. */
  contain(error: unknown): void
}

/** Longest tail of a worker's error output that is kept, in characters. */
const TAIL_LENGTH = 4000

/** How long after a worker's end its error output is waited for, and after its pipe's its end, in milliseconds. */
const LAST_WORDS_MS = 100

/** Starts a worker; `onEnd` is called exactly once. */
export function startWorker(
  launcher: Launcher,
  onMessage: (message: Message) => void,
  onEnd: (end: WorkerEnd) => void,
): WorkerLink {
  const { process: child, pipe } = launcher.start()
  let told: WorkerEnd | null = null
  let tail = ''
  let over = false

  const finish = (end: WorkerEnd) => {
    if (over) return
    over = true
    pipe.destroy()
    onEnd(end)
  }
  const kill = (reason: WorkerEnd['reason'], detail: string) => {
    told ??= { reason, detail }
    child.kill('SIGKILL')
    // At once: a call that came between the signal and the process's end would be lost.
    finish(told)
  }

  const contain = (error: unknown) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    kill('crashed', `the host failed on what this worker said: ${text}`)
  }

  child.stderr?.on('data', (text: Buffer) => {
    tail = (tail + text.toString('utf8')).slice(-TAIL_LENGTH)
  })
  child.on('error', ({ message }) =>
    finish({ reason: child.pid === undefined ? 'unstarted' : 'crashed', detail: message }),
  )
  const judge = (code: number | null, signal: NodeJS.Signals | null) => {
    const detail = `${signal ?? `exit ${code}`} ${tail}`.trim()
    finish({ reason: reasonOf(tail, signal), detail })
  }
  // Its last words may arrive after its end; `close` comes when all of them are there.
  child.on('close', judge)
  child.on('exit', (code, signal) => {
    setTimeout(() => judge(code, signal), LAST_WORDS_MS).unref()
  })
  // A worker that closes its pipe is of no use any more, whatever it goes on doing. One that ended closes
  // it too, and is judged by its end.
  const drop = () => {
    pipe.destroy()
    const judgeAlive = () => {
      if (child.exitCode === null && child.signalCode === null)
        kill('protocol', 'it closed its pipe and went on')
    }
    setTimeout(judgeAlive, LAST_WORDS_MS).unref()
  }
  pipe.on('end', drop)
  pipe.on('close', drop)
  pipe.on('error', drop)

  const hear = (message: Message) => {
    const schema = HEADS[message.kind]
    if (over || told) return
    // The body of a request may wait for its turn, and would keep all that was read with it. One that is longer than a frame
    // is in memory of its own: to copy 16 MB would hold the host up.
    const { kind, body } = message
    if (kind === 'fetch' && body.length > 0 && body.length <= MAX_FRAME_PAYLOAD)
      message.body = Buffer.from(body)
    if (isUsualReply(message) || (schema && v.is(schema, message.head))) onMessage(message)
    else kill('protocol', `malformed or misplaced message: ${message.kind}`)
  }
  const channel = openChannel(pipe, hear, (error) =>
    error instanceof ProtocolError ? kill('protocol', error.message) : contain(error),
  )
  return { pid: child.pid ?? 0, send: channel.send, kill, contain }
}

function reasonOf(tail: string, signal: NodeJS.Signals | null): WorkerEnd['reason'] {
  // isolated-vm's word for code that cannot be stopped; its other catastrophes are memory.
  if (/failed to terminate/i.test(tail)) return 'crashed'
  if (/out of memory|heap limit|catastrophe|allocation failed|invalid size error/i.test(tail))
    return 'memory'
  return signal === 'SIGKILL' ? 'killed' : 'crashed'
}
