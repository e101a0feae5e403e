/** The note of the last backup in the data directory: what the host reports of it to monitoring. */
import { open, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as v from 'valibot'
import { ifMissing } from '../../contract/errors/thrown.ts'

const FILE = 'last-backup'
/** More than any note has, in bytes. */
const MAX_BYTES = 1000

const Note = v.object({
  /** What was acknowledged until then is in the backup. */
  complete_until: v.pipe(v.string(), v.isoTimestamp()),
  bytes: v.number(),
})
type BackupNote = v.InferOutput<typeof Note>

/** Notes a backup that is whole. @throws what the file system says. */
export async function noteBackup(dataDir: string, note: BackupNote): Promise<void> {
  const file = path.join(dataDir, FILE)
  const made = `${file}.${process.pid}`
  await writeFile(made, `${JSON.stringify(note)}\n`, { mode: 0o600 })
  await rename(made, file)
}

/** The last one; null where none was made, or the note cannot be read as one. */
export async function lastBackup(dataDir: string): Promise<BackupNote | null> {
  const handle = await open(path.join(dataDir, FILE)).catch(ifMissing(null))
  if (!handle) return null
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(MAX_BYTES) })
    const note = v.safeParse(Note, parsed(buffer.toString('utf8', 0, bytesRead)))
    return note.success ? note.output : null
  } finally {
    await handle.close()
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
