/**
 * Starts worker processes inside every containment layer that this machine offers, and reports which ones.
 * Measured and tested: sandbox.md; architecture section 2.
 */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import path from 'node:path'
import { Duplex } from 'node:stream'
import { FIRST_DATA_LIMIT, type SetDataLimit } from './data-limit.ts'
import { createSetDataLimit } from './set-data-limit.ts'
import type { WorkerBundle } from './worker-bundle.ts'

type Layer = {
  name: string
  /** What it prevents. */
  stops: string
  /** Another program that it requires. */
  needs?: string
} & (
  | {
      /** Command prefix of the worker's own command. Tested once by running `node -v` in it. */
      prefix: readonly [string, ...string[]]
    }
  | {
      /**
       * Commands that a shell runs before it becomes the command behind it. Adjacent layers share a shell.
       */
      setUp: string
    }
)

const MEMORY_LIMIT = 'memory-limit'

/** Changes limits of running processes. */
const PRLIMIT = 'prlimit'

/** OOM score at which the kernel kills a worker before other processes. */
const FIRST_TO_GO = 1000

/**
 * Layers per platform, outermost first. Namespaces come before the death signal, because entering a user
 * namespace clears it.
 */
const LAYERS: Partial<Record<NodeJS.Platform, readonly Layer[]>> = {
  linux: [
    {
      name: MEMORY_LIMIT,
      stops: 'workers that take gigabytes between two looks at them',
      setUp: `ulimit -S -d ${FIRST_DATA_LIMIT / 1024}`,
      needs: PRLIMIT,
    },
    {
      name: 'out-of-memory-order',
      stops: 'the system from ending the host or the database for what a worker took',
      setUp: `echo ${FIRST_TO_GO} > /proc/self/oom_score_adj`,
    },
    {
      name: 'namespaces',
      stops: 'any use of the network, also by native code',
      prefix: ['unshare', '--user', '--map-root-user', '--net'],
    },
    {
      name: 'parent-death-signal',
      stops: 'workers that outlive a killed host',
      prefix: ['setpriv', '--pdeathsig', 'KILL'],
    },
  ],
}

/** Timer slack of a worker in nanoseconds: how late its timers may fire. */
const TIMER_SLACK_NS = 2_000_000

/**
 * Lets the kernel fire timers of a worker together. isolated-vm has a thread that sleeps until the timeout of
 * each slice, whether it is needed or not. With the usual slack of 50 µs it woke once per call and used 25 µs
 * of processor time per call; now it uses 4 µs.
 */
const COALESCED_TIMERS: Layer = {
  name: 'coalesced-timers',
  stops: 'one wake-up per timer',
  setUp: `echo ${TIMER_SLACK_NS} > /proc/self/timerslack_ns`,
}

/** Containment of connectors on this machine. */
export type Containment = {
  /** `full` if all layers of this platform work; `basic` is Node's permission model alone. */
  level: 'full' | 'partial' | 'basic'
  layers: string[]
  missing: { name: string; stops: string }[]
}

export type WorkerProcess = {
  process: ChildProcess
  pipe: Duplex
  /** It was started in advance and has run only the host's own code since. */
  hasStarted?: boolean
}

export type Launcher = {
  containment: Containment
  /** Commands of the layers, for other processes that handle third-party code. */
  prefix: readonly string[]
  /** Raises the initial memory limit of workers; null if they have none. */
  setDataLimit: SetDataLimit | null
  /**
   * Starts a worker. Throws, or returns a process that reports an error, if the system has no resources for
   * one.
   */
  start(): WorkerProcess
  /** Called when a worker has started. From now on it runs a connector's code. */
  onReady?(pid: number): void
}

/** Old-generation limit of a worker's own heap, in MiB. It holds messages, never connector data. */
const WORKER_HEAP_MB = 512

/**
 * Maximum semi-space of each heap in a worker, including its isolates, in MiB. With the default (16), a
 * worker that answers lists of 28 kB uses 100 MB more and is no faster (test/bench/RESULTS.md).
 */
const SEMI_SPACE_MB = 4

/** Tests the layers of this platform and returns a launcher that uses those that work. */
export function createLauncher(bundle: WorkerBundle): Launcher {
  const layers = LAYERS[process.platform] ?? []
  const all = together()
  if (all !== null && runs(all.command)) learn(all.layers)
  const present = layers.filter(isUsable)
  const prefix = commandOf(present) ?? []
  const missing = layers.filter((layer) => !present.includes(layer))
  const timers = layers.length > 0 && isUsable(COALESCED_TIMERS) ? [COALESCED_TIMERS] : []
  const before = commandOf([...timers, ...present]) ?? []
  const words = [...before, process.execPath, ...nodeFlags(bundle)]
  const [command = process.execPath, ...args] = words
  const prlimit = onPath(PRLIMIT)
  const limited = prlimit !== null && !missing.some(({ name }) => name === MEMORY_LIMIT)
  return {
    prefix,
    setDataLimit: limited && layers.length > 0 ? createSetDataLimit(prlimit) : null,
    containment: {
      level:
        missing.length === 0 && layers.length > 0
          ? 'full'
          : prefix.length > 0
            ? 'partial'
            : 'basic',
      layers: [
        'permission-model',
        ...layers.filter((layer) => !missing.includes(layer)).map(({ name }) => name),
      ],
      missing: missing.map(({ name, stops }) => ({ name, stops })),
    },
    start() {
      const child = spawn(command, args, {
        // The pipe is the standard output: from 26.12 on, Node's permission model lets a process use no other
        // descriptor for a socket unless the whole network is allowed. Nothing else is written there: Node
        // and V8 write to the error output.
        stdio: ['ignore', 'pipe', 'pipe'],
        // Nothing of the host's environment. A fixed time zone, because Intl would reveal the host's.
        env: { TZ: 'UTC' },
        cwd: path.dirname(bundle.file),
        // A process group of its own: Ctrl-C in a terminal reaches the whole group of the host, and would end
        // the calls that the host is about to answer.
        detached: true,
      })
      return { process: child, pipe: pipeOf(child) }
    },
  }
}

/**
 * Returns the worker's pipe. If the host is out of descriptors, Node returns a child without streams, and
 * reports why by an event that would end the host if it were not handled.
 */
function pipeOf(child: ChildProcess): Duplex {
  const stdio: ChildProcess['stdio'] | undefined = child.stdio
  const pipe = stdio?.[1]
  if (pipe instanceof Duplex) return pipe
  child.on('error', () => {})
  throw new Error('the system gave no descriptors for a worker process')
}

function nodeFlags({ file, isolatedVm }: WorkerBundle): string[] {
  return [
    '--permission',
    '--allow-addons',
    `--allow-fs-read=${file}`,
    `--allow-fs-read=${isolatedVm}`,
    '--no-node-snapshot',
    '--no-warnings',
    `--max-old-space-size=${WORKER_HEAP_MB}`,
    `--max-semi-space-size=${SEMI_SPACE_MB}`,
    file,
    isolatedVm,
  ]
}

/** Layers that have worked here. This process does not test them again. */
const working = new Set<Layer>()

/**
 * Returns all layers of this platform, to be tested in one command, as workers use them: usually all work,
 * and each test starts a program. Null if one is missing, and once they have worked.
 */
function together(): { layers: readonly Layer[]; command: string[] } | null {
  const own = LAYERS[process.platform]
  if (!own) return null
  const layers = [COALESCED_TIMERS, ...own]
  if (layers.every((layer) => working.has(layer))) return null
  const command = commandOf(layers)
  return command === null ? null : { layers, command }
}

function learn(layers: readonly Layer[]): void {
  for (const layer of layers) working.add(layer)
}

/**
 * Starts testing the layers for a launcher that is created later. The test runs in parallel with the work
 * until then.
 */
export function tryLayers(): void {
  const all = together()
  if (all === null) return
  const [file = '', ...args] = all.command
  // The launcher tests failed layers again, one by one.
  execFile(file, [...args, process.execPath, '-v'], { timeout: TRY_MS }, (error) => {
    if (error === null) learn(all.layers)
  })
}

/** Reports whether a layer works here. */
function isUsable(layer: Layer): boolean {
  if (working.has(layer)) return true
  const command = commandOf([layer])
  if (command === null || !runs(command)) return false
  working.add(layer)
  return true
}

/** Returns the command prefix of a worker with full paths; null if a program is missing. */
function commandOf(layers: readonly Layer[]): string[] | null {
  if (layers.some(({ needs }) => needs !== undefined && onPath(needs) === null)) return null
  const commands = prefixesOf(layers).map(([program = '', ...args]) => {
    const file = onPath(program)
    return file === null ? null : [file, ...args]
  })
  return commands.includes(null) ? null : commands.flatMap((command) => command ?? [])
}

/**
 * Merges adjacent shells into one, since starting a shell takes as long as all else that it does. The order
 * does not matter.
 */
function prefixesOf(layers: readonly Layer[]): string[][] {
  const prefixes: string[][] = []
  for (const layer of layers) {
    const last = prefixes.at(-1)
    if ('prefix' in layer) prefixes.push([...layer.prefix])
    else if (last?.[0] === SHELL) last[2] = `${layer.setUp} && ${last[2]}`
    else prefixes.push([SHELL, '-c', `${layer.setUp} && exec "$@"`, SHELL])
  }
  return prefixes
}

const SHELL = 'sh'

/** Timeout of a test, in milliseconds. */
const TRY_MS = 5000

/** Reports whether Node starts with a command prefix. */
function runs([file = '', ...args]: readonly string[]): boolean {
  const { status } = spawnSync(file, [...args, process.execPath, '-v'], {
    stdio: 'ignore',
    timeout: TRY_MS,
  })
  return status === 0
}

function onPath(program: string): string | null {
  const folders = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin']
  for (const folder of folders) {
    const file = path.join(folder, program)
    try {
      accessSync(file, constants.X_OK)
      return file
    } catch {
      // Not in this folder. Try the next one.
    }
  }
  return null
}
