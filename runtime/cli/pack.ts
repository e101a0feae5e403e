/** `keyway pack`: a connector's folder, checked, as one file that can be signed and installed. */
import { writeFile } from 'node:fs/promises'
import { packageOf } from '../packages/format.ts'
import { leaksIn } from '../packages/leaks.ts'
import { writePackage } from '../packages/write.ts'
import { type Built, openCheckBench } from '../testing/check-connector.ts'
import { printCheck } from './check.ts'

type Options = { out?: string; json?: true }

/** Packs a folder; exits with 1 where its check fails. */
export async function pack(directory: string, { out, json }: Options): Promise<void> {
  const bench = await openCheckBench()
  try {
    const { result, built } = await bench.build(directory)
    const files = built ? filesOf(built) : new Map<string, Buffer>()
    const leaks = leaksIn(files)
    if (!built || leaks.length > 0) {
      if (json) console.log(JSON.stringify({ ...result, ok: false, leaks }, null, 2))
      else {
        if (!built) printCheck({ directory, ...result })
        for (const leak of leaks) console.error(leak)
      }
      process.exitCode = 1
      return
    }
    const { id, version } = built.manifest
    const made = packageOf(built.manifest, files)
    const file = out ?? `${id}-${version}.tgz`
    const packed = await writePackage(made)
    await writeFile(file, packed)
    const { digest } = made
    if (json)
      console.log(JSON.stringify({ id, version, digest, file, bytes: packed.length }, null, 2))
    else console.log(`${file}: ${id} ${version}, ${packed.length} bytes\ndigest ${digest}`)
  } finally {
    await bench.close()
  }
}

/** What goes into the package: the manifest as it was written, and what was made of the sources. */
function filesOf({ folder, manifest, code, map }: Built): Map<string, Buffer> {
  const files = new Map<string, Buffer>([['code.js', Buffer.from(code)]])
  if (map !== null) files.set('code.js.map', Buffer.from(map))
  const taken = ['connector.json', 'connector.cases.json', 'README.md', manifest.logo ?? '']
  for (const name of taken) {
    const content = folder.files.get(name)
    if (content) files.set(name, content)
  }
  return files
}
