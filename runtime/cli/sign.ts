/** `keyway keygen` and `keyway sign`: create a publisher's key, and a signature next to a package. */

import { existsSync } from 'node:fs'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { ConfigError } from '../config/config.ts'
import { PackageError } from '../connectors/packages/format.ts'
import { readPackage } from '../connectors/packages/read.ts'
import { makeKeyPair, signPackage } from '../connectors/packages/sign.ts'
import { codeOf, errorOf, messageOf } from '../contract/errors/thrown.ts'
import { fileFault, isFileFault } from './terminal/file-fault.ts'
import { terminalJson } from './terminal/json.ts'

type KeyFlags = { dryRun?: true; json?: true }

/** Creates a key pair: `<file>` for its owner alone, and `<file>.pub` to give to operators. */
export async function keygen(file: string, { dryRun, json }: KeyFlags): Promise<void> {
  const files = { private_key: file, public_key: `${file}.pub` }
  if (dryRun) {
    for (const name of Object.values(files)) if (existsSync(name)) throw taken(name)
    console.log(json ? terminalJson(files) : `${file} and ${file}.pub would be written.`)
    return
  }
  const { id, privateKey, publicKey } = makeKeyPair()
  // Never overwrite an existing key, which could then no longer be used to sign.
  await written(file, privateKey, { mode: 0o600, flag: 'wx' })
  try {
    await written(files.public_key, publicKey, { flag: 'wx' })
  } catch (error) {
    await rm(file)
    throw error
  }
  console.log(
    json
      ? terminalJson({ key: id, ...files })
      : `${file}: keep it to yourself\n${file}.pub: give it to those who should trust you\nkey ${id}`,
  )
}

const taken = (file: string): ConfigError =>
  new ConfigError(`${file} already exists; name another file, or move it away`)

async function written(file: string, text: string, how: object): Promise<void> {
  try {
    await writeFile(file, text, how)
  } catch (error) {
    const code = codeOf(error)
    const message = messageOf(error)
    throw code === 'EEXIST' ? taken(file) : new ConfigError(`${file} cannot be written: ${message}`)
  }
}

/** Signs a package and writes `<package>.sig`. */
export async function sign(
  file: string,
  { key, dryRun, json }: KeyFlags & { key: string },
): Promise<void> {
  await told(async () => {
    const made = await readPackage(await readFile(file))
    const signature = signPackage(made, await readFile(key, 'utf8'))
    const { id, version } = made.digests
    const into = `${file}.sig`
    if (!dryRun) await writeFile(into, `${JSON.stringify(signature, null, 2)}\n`)
    const answer = { id, version, digest: made.digest, key: signature.key, file: into }
    const words = `${into}: ${id} ${version}, key ${signature.key}${dryRun ? ' (not written)' : ''}`
    console.log(json ? terminalJson(answer) : words)
    await warnOfReaders(key)
  })
}

/** Prints a warning if others may read a private key. */
export async function warnOfReaders(key: string): Promise<void> {
  const { mode } = await stat(key)
  if ((mode & 0o077) !== 0) console.error(`${key} can be read by others; run chmod 600 ${key}`)
}

async function told(act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    const { path = 'it', message }: NodeJS.ErrnoException = errorOf(error)
    if (isFileFault(error))
      throw fileFault(
        path,
        error,
        'name a package made by keyway pack, and with --key a key from keyway keygen',
      )
    if (error instanceof PackageError) throw new ConfigError(message)
    throw error
  }
}
