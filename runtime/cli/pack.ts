/**
 * `keyway pack`: checks a connector's folder and writes it to one file, which can be signed and installed.
 */

import { writeFile } from 'node:fs/promises'
import { ConfigError } from '../config/config.ts'
import { writePackage } from '../connectors/packages/write.ts'
import { openCheckBench } from '../testing/check-connector.ts'
import { type CheckFlags, checked, printCheck } from './check.ts'
import { terminalJson } from './terminal/json.ts'

type PackFlags = CheckFlags & { out?: string; dryRun?: true }

/** Packs a folder. Sets exit code 1 if its check fails. */
export async function pack(directory: string, flags: PackFlags): Promise<void> {
  const bench = await openCheckBench()
  try {
    const { made, ...result } = await checked(bench, directory, flags)
    const { findings } = result
    if (!made || !result.ok) {
      if (flags.json) console.log(terminalJson(result))
      else printCheck(result)
      process.exitCode = 1
      return
    }
    const { id, version } = made.digests
    const file = flags.out ?? `${id}-${version}.tgz`
    const packed = await writePackage(made)
    if (!flags.dryRun) await written(file, packed)
    const { digest } = made
    const answer = { id, version, digest, file, bytes: packed.length, findings }
    if (flags.json) return console.log(terminalJson(answer))
    if (findings.length > 0) printCheck(result)
    const what = `${id} ${version}, ${packed.length} bytes${flags.dryRun ? ' (not written)' : ''}`
    console.log(`${file}: ${what}\ndigest ${digest}`)
  } finally {
    await bench.close()
  }
}

async function written(file: string, packed: Buffer): Promise<void> {
  await writeFile(file, packed).catch((error: Error) => {
    throw new ConfigError(`${file} cannot be written: ${error.message}`)
  })
}
