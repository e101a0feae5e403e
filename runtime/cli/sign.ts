/** `keyway keygen` and `keyway sign`: a publisher's key, and its signature beside a package. */
import { readFile, stat, writeFile } from 'node:fs/promises'
import { ConfigError } from '../config.ts'
import { PackageError } from '../packages/format.ts'
import { readPackage } from '../packages/read.ts'
import { makeKeyPair, signPackage } from '../packages/sign.ts'

/** Makes a key pair: `<file>` for its owner alone, and `<file>.pub` to give to operators. */
export async function keygen(file: string): Promise<void> {
  const { id, privateKey, publicKey } = makeKeyPair()
  try {
    // Never over a key that is there: what it signed could not be signed again.
    await writeFile(file, privateKey, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new ConfigError(`${file} is there already; name another file, or move it away`)
  }
  await writeFile(`${file}.pub`, publicKey)
  console.log(
    `${file}: keep it to yourself\n${file}.pub: for those who are to trust you\nkey ${id}`,
  )
}

/** Signs a package into `<package>.sig`. */
export async function sign(file: string, { key }: { key: string }): Promise<void> {
  await told(async () => {
    const made = await readPackage(await readFile(file))
    const signature = signPackage(made, await readFile(key, 'utf8'))
    await writeFile(`${file}.sig`, `${JSON.stringify(signature, null, 2)}\n`)
    console.log(`${file}.sig: ${made.digests.id} ${made.digests.version}, key ${signature.key}`)
    const { mode } = await stat(key)
    if ((mode & 0o077) !== 0) console.error(`${key} can be read by others; run chmod 600 ${key}`)
  })
}

async function told(act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    const { code, path, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new ConfigError(`there is no file ${path}`)
    if (error instanceof PackageError) throw new ConfigError(message)
    throw error
  }
}
