/**
 * Starts worker processes behind every layer of containment that this machine offers, and says which
 * ones those are. Measured and tried: sandbox.md; architecture section 2.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import path from 'node:path'
import type { Duplex } from 'node:stream'
import type { WorkerBundle } from './worker-bundle.ts'

type Layer = {
  name: string
  /** What it stops. */
  stops: string
  /** The command that is put before the worker's own; tried once with `true` behind it. */
  prefix: readonly [string, ...string[]]
}

/**
 * Layers per platform, outermost first. Namespaces come before the death signal because entering a
 * user namespace clears it.
 */
const LAYERS: Partial<Record<NodeJS.Platform, readonly Layer[]>> = {
  linux: [
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

/** What stands between a connector and the machine. */
export type Containment = {
  /** `full` when every layer of this platform is there; `basic` is Node's permission model alone. */
  level: 'full' | 'partial' | 'basic'
  layers: string[]
  missing: { name: string; stops: string }[]
}

export type WorkerProcess = { process: ChildProcess; pipe: Duplex }

export type Launcher = {
  containment: Containment
  /** The layers' commands, for other processes that touch what third parties wrote. */
  prefix: readonly string[]
  start(): WorkerProcess
}

/** Old-generation limit of a worker's own heap, in MiB: it holds messages, never connector data. */
const WORKER_HEAP_MB = 512

/** Tries the layers of this platform once and returns what starts workers behind those that work. */
export function createLauncher(bundle: WorkerBundle): Launcher {
  const layers = LAYERS[process.platform] ?? []
  const present = layers.map((layer) => ({ layer, command: usable(layer.prefix) }))
  const prefix = present.flatMap(({ command }) => command ?? [])
  const missing = present.filter(({ command }) => command === null).map(({ layer }) => layer)
  const [command, ...args] = [...prefix, process.execPath, ...nodeFlags(bundle)] as [
    string,
    ...string[],
  ]
  return {
    prefix,
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
        stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
        // Nothing of the host's environment; a fixed time zone, which Intl would show to the guest.
        env: { TZ: 'UTC' },
        cwd: path.dirname(bundle.file),
        // A process group of its own: Ctrl-C in a terminal goes to the whole group of the host, and
        // would end the calls that the host is about to answer.
        detached: true,
      })
      return { process: child, pipe: child.stdio[3] as Duplex }
    },
  }
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
    file,
    isolatedVm,
  ]
}

/** The layer's command with its program's full path, or null when it does not work here. */
function usable([program, ...args]: readonly [string, ...string[]]): string[] | null {
  const file = onPath(program)
  if (file === null) return null
  const tried = spawnSync(file, [...args, process.execPath, '-v'], {
    stdio: 'ignore',
    timeout: 5000,
  })
  return tried.status === 0 ? [file, ...args] : null
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
