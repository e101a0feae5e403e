/**
 * The last generation that this host served, stored on its disk. The host serves it before the database
 * answers.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as v from 'valibot'
import { NOTHING_INSTALLED, Statement } from '../../contract/endpoints/generation.ts'
import type { NumberedStatement } from './generations.ts'

const FILE = 'generation.json'

const LastKnown = v.object({ domain: v.string(), number: v.number(), statement: Statement })

/** Reads it. Returns an empty statement if there is none or it is unreadable, since the database has it. */
export async function readLastKnown(
  directory: string,
): Promise<NumberedStatement & { domain: string }> {
  try {
    const text = await readFile(path.join(directory, FILE), 'utf8')
    return v.parse(LastKnown, JSON.parse(text))
  } catch {
    // Never written, or written by another version.
    return { domain: '', number: 0, statement: NOTHING_INSTALLED }
  }
}

export async function keepLastKnown(
  directory: string,
  known: NumberedStatement & { domain: string },
): Promise<void> {
  const made = path.join(directory, `${FILE}.${randomUUID()}`)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  try {
    await writeFile(made, JSON.stringify(known), { mode: 0o600 })
    await rename(made, path.join(directory, FILE))
  } catch (error) {
    // A full disk must not fill up further with each attempt.
    await rm(made, { force: true })
    throw error
  }
}
