/**
 * Secrets that the operator did not set. They are generated once and stored in the data directory, readable
 * by its owner only.
 */
import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { codeOf, ifMissing } from '../contract/errors/thrown.ts'
import { randomSecret } from './key-derivation.ts'

/** A stored secret and its file. */
type Kept = { value: string; file: string }

/** Reads a secret from the data directory, and generates it if it is missing (mode 0600). */
export async function keptSecret(dataDir: string, name: string, prefix = ''): Promise<Kept> {
  const file = path.join(dataDir, name)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const made = `${file}.${randomBytes(8).toString('hex')}`
  await writeFile(made, `${randomSecret(prefix)}\n`, { mode: 0o600 })
  try {
    // Link the complete file: if two hosts start at once, one creates it and both read it.
    await link(made, file)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    await unlink(made)
  }
  return readKeptSecret(dataDir, name)
}

/** Reads a secret that a host has generated. */
export async function readKeptSecret(dataDir: string, name: string): Promise<Kept> {
  const file = path.join(dataDir, name)
  const value = (await readFile(file, 'utf8')).trim()
  if (value.length < 32)
    throw new Error(`${file} does not hold a secret; remove it and start again`)
  return { value, file }
}

/** Reads a secret from the data directory, or returns null if it is missing. Generates none. */
export async function existingSecret(dataDir: string, name: string): Promise<string | null> {
  const text = await readFile(path.join(dataDir, name), 'utf8').catch(ifMissing(''))
  return text.trim() || null
}
