/** The attacked host, from the run's side: a separate process that answers questions over Node's IPC. */
import { fork } from 'node:child_process'
import type { LaneState } from '../lanes/lanes.ts'
import type { Containment } from '../lanes/launch.ts'

/** Parameters of the host process. */
export type HostSettings = {
  /** Environment from which the host reads its configuration. */
  environment: Record<string, string>
  plugins: string
  /** Texts that must never appear in the host's log. */
  secrets: string[]
  /** Program of a compromised worker. */
  hostileWorker: string
}

export type HostState = {
  workers: LaneState[]
  /** Resident memory after a garbage collection, in bytes. */
  residentBytes: number
  /** Part of it in use: heap and buffers. The allocator retains the rest. */
  usedBytes: number
  logBytes: number
  /** Secrets found in the log. */
  logged: string[]
  /** Members of built-in objects that changed since the start. */
  changedBuiltIns: string[]
}

/** Outcome of a call by the core: `answer`, or a wire code. */
export type CoreEnded = { ending: string; message: string }

/** Questions of the run to the host process. */
export type HostQuestion =
  | { what: 'state' }
  | { what: 'core call'; connector: string; token: string; settings: object }
  | { what: 'take over'; action: string }
  | { what: 'let go' }

export type HostLink = {
  readonly pid: number
  readonly url: string
  readonly containment: Containment
  state(): Promise<HostState>
  /** Makes the core list a connector's accounts. Resolves with the outcome. */
  coreCall(connector: string, token: string, settings: object): Promise<CoreEnded>
  /** Makes the next worker process perform this action instead of its work. */
  takeOver(action: string): Promise<void>
  /** Ends compromised workers. */
  letGo(): Promise<void>
  /** Null while the host runs, then the reason why it ended. */
  readonly ended: string | null
  stop(): Promise<void>
}

/** Secret in the environment of the host process. It must never be shown. */
export const ENVIRONMENT_SECRET = 'canary-of-the-environment-5d0f7c3a'

/** How long the host may take to answer the run itself, in milliseconds. */
const PATIENCE_MS = 120_000

/** Starts the host process. `entry` is its file. */
export async function startHostProcess(entry: string, settings: HostSettings): Promise<HostLink> {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = fork(entry, [], {
    execArgv: ['--no-warnings', '--expose-gc'],
    env: {
      PATH,
      ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }),
      UV_THREADPOOL_SIZE: '32',
      KEYWAY_VERIFY_CANARY: ENVIRONMENT_SECRET,
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // A process group of its own: otherwise Ctrl-C in a terminal would end the host first, and the run would
    // report a host that ended.
    detached: true,
  })
  const kill = () => child.kill('SIGKILL')
  // Kill the host before the listener that removes its folders: it would write into them.
  process.prependOnceListener('exit', kill)
  let errors = ''
  let ended: string | null = null
  let nextId = 1
  const asked = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  const began = Promise.withResolvers<{ url: string; containment: Containment }>()
  child.stderr?.on('data', (text: Buffer) => {
    errors = (errors + text.toString('utf8')).slice(-2000)
  })
  const over = (why: string) => {
    process.off('exit', kill)
    ended = why.trim()
    const error = new Error(ended)
    began.reject(error)
    for (const one of asked.values()) one.reject(error)
  }
  child.on('exit', (code, signal) => over(`the host ended: ${signal ?? `exit ${code}`} ${errors}`))
  child.on('error', ({ message }) => {
    if (child.pid === undefined) over(`the host could not be started: ${message}`)
  })
  child.on('message', (message: { id?: number; value?: unknown; began?: never }) => {
    if (message.began) return began.resolve(message.began)
    asked.get(message.id ?? 0)?.resolve(message.value)
  })

  function ask<T>(question: HostQuestion): Promise<T> {
    if (ended !== null) return Promise.reject(new Error(ended))
    const id = nextId++
    let timer: NodeJS.Timeout
    return new Promise<T>((resolve, reject) => {
      const late = () => reject(new Error(`the host did not answer within ${PATIENCE_MS} ms`))
      timer = setTimeout(late, PATIENCE_MS)
      // The cast: the host answers a question of this kind with this type.
      asked.set(id, { resolve: resolve as (value: unknown) => void, reject })
      child.send({ id, ...question }, (error) => error && reject(error))
    }).finally(() => {
      clearTimeout(timer)
      asked.delete(id)
    })
  }

  // The host may have ended already. Its exit gives the reason, not this error.
  child.send(settings, () => {})
  const { url, containment } = await began.promise
  return {
    pid: child.pid ?? 0,
    url,
    containment,
    state: () => ask<HostState>({ what: 'state' }),
    coreCall: (connector, token, settings) =>
      ask<CoreEnded>({ what: 'core call', connector, token, settings }),
    takeOver: (action) => ask({ what: 'take over', action }),
    letGo: () => ask({ what: 'let go' }),
    get ended() {
      return ended
    },
    async stop() {
      if (ended !== null) return
      const over = new Promise((resolve) => child.once('exit', resolve))
      child.disconnect()
      const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
      await over
      clearTimeout(timer)
    },
  }
}
