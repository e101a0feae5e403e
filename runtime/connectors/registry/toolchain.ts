/** Identifies the runtime that makes a verdict: what it compiles into bundles, and how it checks them. */
import { createHash } from 'node:crypto'
import path from 'node:path'
import { digestOf, readTree } from './folder.ts'

const RUNTIME = path.join(import.meta.dirname, '..', '..')

/** Read once. A process keeps the runtime that it started with. */
let known: Promise<string> | null = null

/**
 * Returns the digest of what becomes part of every bundle. A verdict is valid only for the runtime that made
 * it.
 */
export function toolchainDigest(): Promise<string> {
  known ??= read()
  return known
}

async function read(): Promise<string> {
  const files = new Map<string, Buffer>()
  for (const folder of [
    'sdk',
    'contract',
    'protocol',
    'redact',
    'bounded',
    'connectors/registry',
    'worker',
  ]) {
    const { files: found } = await readTree(path.join(RUNTIME, folder))
    for (const [name, content] of found) files.set(`${folder}/${name}`, content)
  }
  return createHash('sha256').update(digestOf(files)).update(process.version).digest('hex')
}
