/**
 * Builds the one file that a worker process runs: the worker's code with the text of the guest prelude
 * inside. Built from the runtime's sources at start, so that no build step can be forgotten. Sources are
 * named without their extensions, which differ in the installed package.
 */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'

export type WorkerBundle = {
  /** File of the worker. */
  file: string
  /** isolated-vm's binary for this Node and platform, the only other file that a worker reads. */
  isolatedVm: string
}

/** File of the bundle that ships next to a bundled command (scripts/bundle.ts). */
declare const BUILT_WORKER: string | undefined

const RUNTIME = path.join(import.meta.dirname, '..')

/** Writes the bundle into a folder and returns its path. Building takes some 60 ms. */
export async function buildWorker(directory: string): Promise<WorkerBundle> {
  const worker =
    typeof BUILT_WORKER === 'undefined' ? await makeWorker() : await readFile(BUILT_WORKER, 'utf8')
  const digest = createHash('sha256').update(worker).digest('hex').slice(0, 16)
  await mkdir(directory, { recursive: true })
  const file = path.join(directory, `worker-${digest}.cjs`)
  // Renamed into place: two hosts may start from one folder at the same time.
  const made = `${file}.${randomUUID()}`
  await writeFile(made, worker)
  await rename(made, file)
  return { file, isolatedVm: isolatedVmBinary() }
}

/**
 * Builds the worker as a script, not a module: loading the module loader would take an eighth of a worker's
 * start.
 */
async function makeWorker(): Promise<string> {
  // Imported only when needed: the installed package has the file.
  const { buildSync, stop } = await import('esbuild')
  function bundle(entry: string, format: 'iife' | 'cjs', define: Record<string, string>) {
    // The synchronous form, so that no other build of this process is running when the bundler is stopped.
    const result = buildSync({
      entryPoints: [path.join(RUNTIME, entry)],
      bundle: true,
      write: false,
      format,
      define,
      platform: format === 'cjs' ? 'node' : 'neutral',
      target: 'esnext',
      minify: format === 'iife',
      // Without it, functions of the prelude could be seen from the guest through `.caller`.
      banner: { js: "'use strict';" },
      legalComments: 'none',
      tsconfigRaw: {},
    })
    return result.outputFiles.map(({ text }) => text).join('')
  }
  const prelude = bundle('worker/guest/prelude', 'iife', {})
  const worker = bundle('worker/main', 'cjs', { KEYWAY_PRELUDE: JSON.stringify(prelude) })
  // The bundler would otherwise stay for the life of the host.
  await stop()
  return worker
}

function isolatedVmBinary(): string {
  const require = createRequire(import.meta.url)
  const home = path.dirname(require.resolve('isolated-vm/package.json'))
  const find = createRequire(path.join(home, 'package.json'))('node-gyp-build')
  return find.path(home)
}
