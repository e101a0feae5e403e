/** The record of the last backup in the data directory, which the host reports to monitoring. */

import { open, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as v from 'valibot'
import { ifMissing } from '../../contract/errors/thrown.ts'
import { parsedJson } from '../../contract/schema/json-text.ts'

const FILE = 'last-backup'
/** Upper bound of a record's size, in bytes. */
const MAX_BYTES = 1000

const Note = v.object({
  /** Everything acknowledged until then is in the backup. */
  complete_until: v.pipe(v.string(), v.isoTimestamp()),
  bytes: v.number(),
})
type BackupNote = v.InferOutput<typeof Note>

/**
 * Records a complete backup.
 * @throws errors of the file system
 */
export async function noteBackup(dataDir: string, note: BackupNote): Promise<void> {
  const file = path.join(dataDir, FILE)
  const made = `${file}.${process.pid}`
  await writeFile(made, `${JSON.stringify(note)}\n`, { mode: 0o600 })
  await rename(made, file)
}

/** Returns the last record, or null if there is none or it cannot be parsed. */
export async function lastBackup(dataDir: string): Promise<BackupNote | null> {
  const handle = await open(path.join(dataDir, FILE)).catch(ifMissing(null))
  if (!handle) return null
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(MAX_BYTES) })
    const note = v.safeParse(Note, parsedJson(buffer.toString('utf8', 0, bytesRead)))
    return note.success ? note.output : null
  } finally {
    await handle.close()
  }
}
