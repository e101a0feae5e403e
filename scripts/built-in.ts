/** Writes runtime/registry/built-in.json: the digests of the connectors in plugins/. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { BUILT_IN_FILE } from '../runtime/registry/built-in.ts'
import { readFolder } from '../runtime/registry/folder.ts'
import { foldersIn } from '../runtime/registry/watch.ts'

const digests: Record<string, string> = {}
for (const folder of (await foldersIn(path.join(import.meta.dirname, '..', 'plugins'))).sort()) {
  const { files, digest } = await readFolder(folder)
  digests[JSON.parse(String(files.get('connector.json'))).id] = digest
}
await writeFile(BUILT_IN_FILE, `${JSON.stringify(digests, null, 2)}\n`)
