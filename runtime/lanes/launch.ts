/**
 * Starts worker processes behind every layer of containment that this machine offers, and says which
 * ones those are. Measured and tried: sandbox.md; architecture section 2.
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
  /** What it stops. */
  stops: string
  /** A further program that it cannot do without. */
  needs?: string
} & (
  | {
      /** The command that is put before the worker's own; tried once with `node -v` behind it. */
      prefix: readonly [string, ...string[]]
    }
  | {
      /** What a shell does before it becomes the command behind it. Layers that follow one another share a shell. */
      setUp: string
    }
)

const MEMORY_LIMIT = 'memory-limit'

/** Changes limits of processes that run. */
const PRLIMIT = 'prlimit'

/** Where the kernel looks first when it has to end a process for its memory. */
const FIRST_TO_GO = 1000

/**
 * Layers per platform, outermost first. Namespaces come before the death signal because entering a
 * user namespace clears it.
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

/** How much later than asked for a timer of a worker may fire, in nanoseconds. */
const TIMER_SLACK_NS = 2_000_000

/**
 * Lets the kernel fire the timers of a worker together. isolated-vm has a thread that sleeps until the timeout of each
 * slice in turn, in time or not: with the usual slack of 50 µs it wakes once per call, which took 25 µs of processor time
 * per call, and takes 4 now.
 */
const COALESCED_TIMERS: Layer = {
  name: 'coalesced-timers',
  stops: 'one wake-up per timer',
  setUp: `echo ${TIMER_SLACK_NS} > /proc/self/timerslack_ns`,
}

/** What stands between a connector and the machine. */
export type Containment = {
  /** `full` when every layer of this platform is there; `basic` is Node's permission model alone. */
  level: 'full' | 'partial' | 'basic'
  layers: string[]
  missing: { name: string; stops: string }[]
}

export type WorkerProcess = {
  process: ChildProcess
  pipe: Duplex
  /** It was started before, and has run the host's own code since. */
  hasStarted?: boolean
}

export type Launcher = {
  containment: Containment
  /** The layers' commands, for other processes that touch what third parties wrote. */
  prefix: readonly string[]
  /** Raises the limit that workers start with; null where they have none. */
  setDataLimit: SetDataLimit | null
  /** Throws, or gives a process that tells an error, where the system has no room for one. */
  start(): WorkerProcess
  /** Hears of each worker that has started: from now on it runs a connector's code. */
  onReady?(pid: number): void
}

/** Old-generation limit of a worker's own heap, in MiB: it holds messages, never connector data. */
const WORKER_HEAP_MB = 512

/**
 * Longest semi-space of each heap in a worker, the isolates' as well, in MiB. Left alone (16), a worker that answers
 * lists of 28 kB keeps 100 MB more, and is no faster (test/bench/RESULTS.md).
 */
const SEMI_SPACE_MB = 4

/** Tries the layers of this platform and returns what starts workers behind those that work. */
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
        // The pipe is the standard output: from 26.12 on, Node's permission model lets a process take no other descriptor for a
        // socket, unless all of the network is allowed. Nothing else is written there: Node and V8 write to the error output.
        stdio: ['ignore', 'pipe', 'pipe'],
        // Nothing of the host's environment; a fixed time zone, which Intl would show to the guest.
        env: { TZ: 'UTC' },
        cwd: path.dirname(bundle.file),
        // A process group of its own: Ctrl-C in a terminal goes to the whole group of the host, and
        // would end the calls that the host is about to answer.
        detached: true,
      })
      return { process: child, pipe: pipeOf(child) }
    },
  }
}

/**
 * The worker's pipe. Where the host is out of descriptors, Node gives a child without any stream, and tells
 * why by an event that would end the host if nobody listened.
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

/** Layers that have worked here once: they are not tried again by this process. */
const working = new Set<Layer>()

/**
 * All layers of this platform, to be tried behind one another, as workers have them: mostly all work, and each try starts
 * a program. Null where one is not there, and where they have worked.
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

/** Begins to try the layers, for a launcher that is made later: the program that it takes runs beside what is done until then. */
export function tryLayers(): void {
  const all = together()
  if (all === null) return
  const [file = '', ...args] = all.command
  // What does not work is tried again by the launcher, layer by layer.
  execFile(file, [...args, process.execPath, '-v'], { timeout: TRY_MS }, (error) => {
    if (error === null) learn(all.layers)
  })
}

/** Whether a layer works here. */
function isUsable(layer: Layer): boolean {
  if (working.has(layer)) return true
  const command = commandOf([layer])
  if (command === null || !runs(command)) return false
  working.add(layer)
  return true
}

/** The command that is put before a worker's own, with full paths; null where a program is missing. */
function commandOf(layers: readonly Layer[]): string[] | null {
  if (layers.some(({ needs }) => needs !== undefined && onPath(needs) === null)) return null
  const commands = prefixesOf(layers).map(([program = '', ...args]) => {
    const file = onPath(program)
    return file === null ? null : [file, ...args]
  })
  return commands.includes(null) ? null : commands.flatMap((command) => command ?? [])
}

/** Shells in a row are one, in which the order does not matter: each takes as long to start as all else that it does. */
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

/** How long a try may take, in milliseconds. */
const TRY_MS = 5000

/** Whether Node starts behind a command. */
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
      // Not in this folder: look in the next.
    }
  }
  return null
}
