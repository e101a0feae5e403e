/**
 * A running worker as seen from the host: its process, its channel, and how it ended. The other side is
 * treated as hostile: a protocol violation ends the process.
 */
import * as v from 'valibot'
import { type Channel, openChannel } from '../protocol/channel.ts'
import { MAX_FRAME_PAYLOAD, type Message, ProtocolError } from '../protocol/frames.ts'
import { isUsualReply, WORKER_HEADS } from '../protocol/worker-heads.ts'
import type { Launcher } from './launch.ts'

/** Kinds without a schema are not sent to a host. */
const HEADS: Partial<Record<Message['kind'], v.GenericSchema>> = WORKER_HEADS

/**
 * Why a worker ended: `killed` from outside, `crowded` by more tenants than it has memory for, `stalled`
 * because its main thread did not answer, `unstarted` because the system had no resources for it.
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
  /** Text for the log: the last lines of its output, or the violation. */
  detail: string
}

export type WorkerLink = {
  readonly pid: number
  readonly send: Channel['send']
  /** Kills the process. A worker is never asked to exit, since it could not after a native loop. */
  kill(reason: WorkerEnd['reason'], detail: string): void
  /** Ends the worker because of an error in the host that it caused, and nothing else. */
  contain(error: unknown): void
}

/** Maximum length of a worker's error output that is kept, in characters. */
const TAIL_LENGTH = 4000

/**
 * How long to wait for its error output after a worker's end, and for its end after its pipe has closed, in
 * milliseconds.
 */
const LAST_OUTPUT_MS = 100

/** Starts a worker. `onEnd` is called exactly once. */
export function startWorker(
  launcher: Launcher,
  onMessage: (message: Message) => void,
  onEnd: (end: WorkerEnd) => void,
): WorkerLink {
  const { process: child, pipe } = launcher.start()
  let killedAs: WorkerEnd | null = null
  const output = createOutput()
  let over = false

  const finish = (end: WorkerEnd) => {
    if (over) return
    over = true
    pipe.destroy()
    onEnd(end)
  }
  const kill = (reason: WorkerEnd['reason'], detail: string) => {
    // A worker that is out of memory reports that, and then takes a while to end: on a busy machine long enough
    // to be killed for not answering, or for having closed its pipe.
    killedAs ??=
      reason !== 'stopped' && output.cause === 'memory'
        ? { reason: 'memory', detail: `${detail} ${output.tail}`.trim() }
        : { reason, detail }
    child.kill('SIGKILL')
    // Immediately: a call that arrived between the signal and the end of the process would be lost.
    finish(killedAs)
  }

  const contain = (error: unknown) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    kill('crashed', `the host failed on what this worker said: ${text}`)
  }

  child.stderr?.on('data', (text: Buffer) => output.add(text.toString('utf8')))
  child.on('error', ({ message }) =>
    finish({ reason: child.pid === undefined ? 'unstarted' : 'crashed', detail: message }),
  )
  const classify = (code: number | null, signal: NodeJS.Signals | null) => {
    const detail = `${signal ?? `exit ${code}`} ${output.tail}`.trim()
    finish({ reason: output.cause ?? (signal === 'SIGKILL' ? 'killed' : 'crashed'), detail })
  }
  // Its last output may arrive after its end. `close` follows all of it.
  child.on('close', classify)
  child.on('exit', (code, signal) => {
    setTimeout(() => classify(code, signal), LAST_OUTPUT_MS).unref()
  })
  // A worker that closes its pipe is useless in any state. A worker that ended closes it too, and is
  // classified by its end.
  const drop = () => {
    pipe.destroy()
    const killIfAlive = () => {
      if (child.exitCode === null && child.signalCode === null)
        kill('protocol', 'it closed its pipe and went on')
    }
    setTimeout(killIfAlive, LAST_OUTPUT_MS).unref()
  }
  pipe.on('end', drop)
  pipe.on('close', drop)
  pipe.on('error', drop)

  const hear = (message: Message) => {
    const schema = HEADS[message.kind]
    if (over || killedAs) return
    // The body of a request may wait, and would retain everything read with it. A body longer than a frame
    // has memory of its own; copying 16 MB would block the host.
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

/** isolated-vm's message for code that cannot be stopped. Its other fatal errors are out of memory. */
const ENDLESS = /failed to terminate/i
const OUT_OF_MEMORY =
  /out of memory|heap limit|catastrophe|allocation failed|invalid size error|std::bad_alloc/i

/** Error output of a worker: its last part, and the cause of the end that it reports, if any. */
function createOutput() {
  let tail = ''
  let cause: 'crashed' | 'memory' | null = null
  return {
    get tail() {
      return tail.trim()
    },
    get cause() {
      return cause
    },
    add(text: string): void {
      const all = tail + text
      // Searched before it is cut: a long trace of the stack follows the error.
      if (ENDLESS.test(all)) cause = 'crashed'
      else if (OUT_OF_MEMORY.test(all)) cause ??= 'memory'
      tail = all.slice(-TAIL_LENGTH)
    },
  }
}
