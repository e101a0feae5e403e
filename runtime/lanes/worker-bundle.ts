/**
 * Makes the one file that a worker process runs: the worker's code with the guest prelude's text
 * inside. Made of the runtime's own files at start, so that there is no build step to forget; named without
 * their endings, which are others in the installed package.
 */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'

export type WorkerBundle = {
  /** The worker's file. */
  file: string
  /** isolated-vm's binary for this Node and platform: the one other file that a worker reads. */
  isolatedVm: string
}

/** The file of the bundle that a command which is one program has beside it (scripts/bundle.ts). */
declare const BUILT_WORKER: string | undefined

const RUNTIME = path.join(import.meta.dirname, '..')

/** Writes the bundle into a folder and says where it is. Takes some 60 ms where it has to be made first. */
export async function buildWorker(directory: string): Promise<WorkerBundle> {
  const worker =
    typeof BUILT_WORKER === 'undefined' ? await makeWorker() : await readFile(BUILT_WORKER, 'utf8')
  const digest = createHash('sha256').update(worker).digest('hex').slice(0, 16)
  await mkdir(directory, { recursive: true })
  const file = path.join(directory, `worker-${digest}.cjs`)
  // Renamed into place: two hosts may start from one folder at once.
  const made = `${file}.${randomUUID()}`
  await writeFile(made, worker)
  await rename(made, file)
  return { file, isolatedVm: isolatedVmBinary() }
}

/** No module: loading the loader of modules would be an eighth of the start of a worker. */
async function makeWorker(): Promise<string> {
  // Loaded where it is needed: the installed package has the file.
  const { buildSync, stop } = await import('esbuild')
  function bundle(entry: string, format: 'iife' | 'cjs', define: Record<string, string>) {
    // The blocking form: no other build of this process can be under way when the bundler is stopped.
    const result = buildSync({
      entryPoints: [path.join(RUNTIME, entry)],
      bundle: true,
      write: false,
      format,
      define,
      platform: format === 'cjs' ? 'node' : 'neutral',
      target: 'esnext',
      minify: format === 'iife',
      // Sloppy functions of the prelude could be seen from the guest through `.caller`.
      banner: { js: "'use strict';" },
      legalComments: 'none',
      tsconfigRaw: {},
    })
    return result.outputFiles.map(({ text }) => text).join('')
  }
  const prelude = bundle('worker/guest/prelude', 'iife', {})
  const worker = bundle('worker/main', 'cjs', { KEYWAY_PRELUDE: JSON.stringify(prelude) })
  // It would stay for the life of the host.
  await stop()
  return worker
}

function isolatedVmBinary(): string {
  const require = createRequire(import.meta.url)
  const home = path.dirname(require.resolve('isolated-vm/package.json'))
  const find = createRequire(path.join(home, 'package.json'))('node-gyp-build')
  return find.path(home)
}
