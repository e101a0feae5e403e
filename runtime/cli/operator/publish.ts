/** `keyway trust`: adds the key of a publisher whose packages may be installed. */
import { readFile } from 'node:fs/promises'
import { ConfigError } from '../../config/config.ts'
import { fileFault } from '../terminal/file-fault.ts'
import type { ChangeFlags } from '../terminal/options.ts'
import { change } from './change.ts'

export async function trust(file: string, flags: ChangeFlags & { name: string }): Promise<void> {
  const public_key = await readFile(file, 'utf8').catch((error: unknown) => {
    throw fileFault(file, error, 'name the .pub file written by keyway keygen')
  })
  if (public_key.includes('PRIVATE KEY'))
    throw new ConfigError(
      `${file} is a private key: it stays with its owner. Trust the public one, ${file}.pub`,
    )
  if (!public_key.includes('PUBLIC KEY'))
    throw new ConfigError(
      `${file} is not a public key: name the .pub file written by keyway keygen`,
    )
  await change('/operator/publishers', flags, { name: flags.name, public_key })
}
