/** Identifies the runtime that makes a verdict: what it compiles into bundles, and how it checks them. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { digestOf } from './folder.ts'

/** Digest of the sources of a bundled command (scripts/bundle.ts). */
declare const BUILT_SOURCES: string | undefined

const RUNTIME = path.join(import.meta.dirname, '..', '..')

/** Folders below runtime/ that become part of bundles or check them. */
const FOLDERS = [
  'sdk',
  'contract',
  'protocol',
  'redact',
  'bounded',
  'connectors/registry',
  'worker',
] as const

/** Computed once. A process keeps the runtime that it started with. */
let known: string | null = null

/**
 * Returns the digest of what becomes part of every bundle. A verdict is valid only for the runtime that made
 * it.
 */
export function toolchainDigest(): string {
  known ??= createHash('sha256')
    .update(typeof BUILT_SOURCES === 'undefined' ? sourcesDigest(RUNTIME) : BUILT_SOURCES)
    .update(process.version)
    .digest('hex')
  return known
}

/**
 * Returns the digest of the code in runtime/, or in the folder that it was built to.
 *
 * Reads synchronously: it takes 10 ms of processor time, and with promises 40 ms. No host listens yet.
 */
export function sourcesDigest(runtime: string): string {
  const files = new Map<string, Buffer>()
  for (const folder of FOLDERS) {
    const names = readdirSync(path.join(runtime, folder), { recursive: true, encoding: 'utf8' })
    // Other files, such as READMEs, change no verdict, and a bundled command is not made again for them.
    for (const name of names.filter((one) => /\.[jt]s$/.test(one))) {
      const file = `${folder}/${name.replaceAll(path.sep, '/')}`
      files.set(file, readFileSync(path.join(runtime, file)))
    }
  }
  return digestOf(files)
}
