/** A server to measure: a process that listens on a free port and discards its log. */
import { type ChildProcess, spawn } from 'node:child_process'
import { freePort } from '../free-port.ts'
import { pause } from './run.ts'

export type Server = {
  url: string
  pid: number
  /** From its start to its first ready answer, in milliseconds. */
  readyMs: number
  /** Resolves when the process has ended. */
  stop(): Promise<void>
}

export type ServerOptions = {
  name: string
  command: string
  args(port: number): readonly string[]
  env?: Record<string, string>
  /** The path that answers 200 once the server is ready. */
  readyPath: string
  signal: AbortSignal
}

/** Time limit for a server to become ready, in milliseconds. */
const PATIENCE_MS = 300_000
const ASK_EVERY_MS = 5

/**
 * Starts a server and waits until it is ready. It inherits only PATH and HOME from the environment, so that
 * no proxy or database of the operator affects the measurement.
 *
 * @throws Error with its last output, if it ends before.
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

/** Resolves with the last output of a process when it has ended. */
function endOf(child: ChildProcess): Promise<string> {
  let words = ''
  child.stderr?.on('data', (text: Buffer) => {
    words = (words + text.toString('utf8')).slice(-2000)
  })
  return new Promise((resolve) => {
    // Also emitted when an aborted run ends the process; `exit` reports its end then.
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
    // The connection is refused until the server listens.
    const reply = await fetch(url, { signal }).catch(() => null)
    await reply?.arrayBuffer()
    if (reply?.ok) return
    await pause(ASK_EVERY_MS)
  }
  throw new Error(`not ready after ${PATIENCE_MS / 1000} s`)
}
