/** A server that is measured: a process that listens on a free port and writes its log to nowhere. */
import { type ChildProcess, spawn } from 'node:child_process'
import { freePort } from '../free-port.ts'
import { pause } from './run.ts'

export type Server = {
  url: string
  pid: number
  /** From its start to its first answer that it is ready, in milliseconds. */
  readyMs: number
  /** Resolves when the process has ended. */
  stop(): Promise<void>
}

export type ServerOptions = {
  name: string
  command: string
  args(port: number): readonly string[]
  env?: Record<string, string>
  /** What answers 200 once the server is ready. */
  readyPath: string
  signal: AbortSignal
}

/** How long a server may take to be ready, in milliseconds. */
const PATIENCE_MS = 300_000
const ASK_EVERY_MS = 5

/**
 * Starts a server and waits until it is ready. It gets nothing of this process's environment but PATH
 * and HOME: a proxy or a database of the operator's has no place in a measurement.
 *
 * @throws Error when it ends before, with its last words.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { name, command, args, env = {}, readyPath, signal } = options
  const port = await freePort()
  const { PATH = '', HOME = '' } = process.env
  const begun = performance.now()
  const child = spawn(command, args(port), {
    env: { PATH, HOME, PORT: String(port), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  })
  const ended = endOf(child)
  const url = `http://127.0.0.1:${port}`
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  try {
    await Promise.race([
      untilReady(url + readyPath, signal),
      ended.then((words) => Promise.reject(new Error(`${name} ended: ${words}`))),
    ])
  } catch (error) {
    await stop()
    throw error
  }
  return { url, pid: child.pid ?? 0, readyMs: performance.now() - begun, stop }
}

/** Resolves with the last words of a process when it has ended. */
function endOf(child: ChildProcess): Promise<string> {
  let words = ''
  child.stderr?.on('data', (text: Buffer) => {
    words = (words + text.toString('utf8')).slice(-2000)
  })
  return new Promise((resolve) => {
    // Also told when a stopped run ends the process; its end is told by `exit` then.
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(error.message)
    })
    child.once('exit', (code, signal) => resolve(`${signal ?? `exit ${code}`} ${words}`.trim()))
  })
}

async function untilReady(url: string, signal: AbortSignal): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS
  while (performance.now() < endMs) {
    signal.throwIfAborted()
    // Refused while nothing listens there.
    const reply = await fetch(url, { signal }).catch(() => null)
    await reply?.arrayBuffer()
    if (reply?.ok) return
    await pause(ASK_EVERY_MS)
  }
  throw new Error(`not ready after ${PATIENCE_MS / 1000} s`)
}
