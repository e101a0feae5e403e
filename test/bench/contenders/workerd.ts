/**
 * Fetches workerd for a run and starts it. It is not a dependency of the project, because only this benchmark
 * needs its 160 MB. Its version and digests are pinned in workerd/package-lock.json; npm's own cache keeps
 * the download for the next run.
 */
import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import type { Run } from '../run.ts'
import { type Server, startServer } from '../server.ts'

const HERE = import.meta.dirname
const PINNED = path.join(HERE, 'workerd')
const INSTALL = ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
/** Time limit of the download, in milliseconds. */
const INSTALL_MS = 300_000

/** The version that is measured. */
export async function workerdVersion(): Promise<string> {
  const { dependencies } = JSON.parse(await readFile(path.join(PINNED, 'package.json'), 'utf8'))
  return dependencies.workerd
}

/**
 * Installs workerd into the run's folder and starts it with the Worker.
 *
 * @throws Error if it is not available on this machine.
 */
export async function startWorkerd({ home, signal, tell }: Run): Promise<Server> {
  const folder = path.join(home, 'workerd')
  await mkdir(folder, { recursive: true })
  for (const file of ['package.json', 'package-lock.json'])
    await cp(path.join(PINNED, file), path.join(folder, file))
  tell('fetching workerd')
  const npm = promisify(execFile)('npm', INSTALL, { cwd: folder, timeout: INSTALL_MS, signal })
  await npm.catch((error: { stderr?: string }) => {
    const [, code = 'no answer in time'] = /npm error code (\S+)/.exec(error.stderr ?? '') ?? []
    throw new Error(`npm could not fetch it: ${code}`)
  })
  await writeWorker(path.join(folder, 'worker.js'))
  const require = createRequire(path.join(folder, 'package.json'))
  const config = path.join(folder, 'config.capnp')
  return startServer({
    name: 'workerd',
    command: require('workerd').default,
    args: (port) => ['serve', config, `--socket-addr=http=127.0.0.1:${port}`],
    readyPath: '/readyz',
    signal,
  })
}

async function writeWorker(file: string): Promise<void> {
  await build({
    entryPoints: [path.join(HERE, 'worker.ts')],
    outfile: file,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['import', 'default'],
    target: 'esnext',
    define: { 'process.env.NODE_ENV': '"production"' },
    tsconfigRaw: {},
    logLevel: 'silent',
  })
  await writeFile(path.join(path.dirname(file), 'config.capnp'), CONFIG)
}

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "bench", worker = .bench)],
  sockets = [(name = "http", http = (), service = "bench")],
);

const bench :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2026-10-01",
);
`
