/** Which runtime gives a verdict: what it compiles in, and checks by. */
import { createHash } from 'node:crypto'
import path from 'node:path'
import { digestOf, readTree } from './folder.ts'

const RUNTIME = path.join(import.meta.dirname, '..', '..')

/** Digest of what becomes part of every bundle: a verdict is only good for the runtime that gave it. */
export async function toolchainDigest(): Promise<string> {
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
