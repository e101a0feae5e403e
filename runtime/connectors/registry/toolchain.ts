/** Which runtime gives a verdict: what it compiles in, and checks by. */
import { createHash } from 'node:crypto'
import path from 'node:path'
import { digestOf, readTree } from './folder.ts'

const RUNTIME = path.join(import.meta.dirname, '..', '..')

/** What was read; a process goes on with the runtime that it began with. */
let known: Promise<string> | null = null

/** Digest of what becomes part of every bundle: a verdict is only good for the runtime that gave it. */
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
