/** Reads a backup file: its manifest first, then each entry, which is held against what the end says of it. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import * as v from 'valibot'
import { errorOf } from '../../contract/errors/thrown.ts'
import {
  type ArchiveEntry,
  BACKUP_FORMAT,
  BackupError,
  type BackupKey,
  BackupManifest,
  digestOfBytes,
  END_NAME,
  End,
  isSealedWith,
  MANIFEST_NAME,
  MAX_BACKUP_MANIFEST_BYTES,
  MAX_END_BYTES,
} from './format.ts'

/** What a whole backup is, and what each of its entries was. */
export type WholeBackup = { manifest: BackupManifest; end: End; bytes: number }

type ReadOptions = {
  file: string
  /** Says with which of the operator's secrets the backup must be sealed, or why it cannot be restored. */
  accept(manifest: BackupManifest): BackupKey
  /** Takes each entry between manifest and end, reads it to its end, and says what it was. @throws BackupError */
  take(entry: ParsedTarEntry, manifest: BackupManifest): Promise<ArchiveEntry>
  signal: AbortSignal
  onProgress(progress: { entries: number; bytes: number }): void
}

/**
 * Reads all of a backup. Only once this has ended is it known to be whole, and of who has the secret.
 *
 * @throws BackupError when the file is no whole backup, and what `accept` and `take` throw.
 */
export async function readBackup({
  file,
  accept,
  take,
  signal,
  onProgress,
}: ReadOptions): Promise<WholeBackup> {
  const entries: ArchiveEntry[] = []
  let manifest: BackupManifest | null = null
  let key: BackupKey | null = null
  let end: End | null = null
  let bytes = 0
  try {
    for await (const entry of entriesIn(file, signal)) {
      const { name } = entry.header
      if (end) throw damaged(file, `something follows its end: ${name}`)
      if (!manifest) {
        if (name !== MANIFEST_NAME) throw notOurs(file)
        const { value, digest, size } = await readJson(entry, MAX_BACKUP_MANIFEST_BYTES)
        manifest = parseManifest(value, file)
        key = accept(manifest)
        entries.push([name, size, digest])
      } else if (name === END_NAME) {
        end = v.parse(End, (await readJson(entry, MAX_END_BYTES)).value)
      } else {
        const taken = await take(entry, manifest)
        entries.push(taken)
        bytes += taken[1]
        onProgress({ entries: entries.length, bytes })
      }
    }
  } catch (error) {
    throw await translated(error, file, manifest !== null)
  }
  if (!manifest) throw notOurs(file)
  if (!key || !end) throw damaged(file, 'its end is missing: it was cut off')
  check(file, entries, end, key, manifest.format)
  return { manifest, end, bytes }
}

/** Every entry is what the end says, and the end is sealed by who holds the secret. */
function check(
  file: string,
  entries: readonly ArchiveEntry[],
  end: End,
  key: BackupKey,
  format: number,
): void {
  if (!isSealedWith(key, end, format))
    throw damaged(
      file,
      `its seal is not of this secret (key id ${key.id}), so it was written or changed with another secret`,
    )
  const wrong = entries.findIndex((entry, at) => String(entry) !== String(end.entries[at]))
  const first = wrong >= 0 ? entries[wrong]?.[0] : end.entries[entries.length]?.[0]
  if (first !== undefined) throw damaged(file, `${first} is not what was written`)
}

/** The entries of the tar, one after another; each must be read to its end. */
export async function* entriesIn(
  file: string,
  signal: AbortSignal,
): AsyncGenerator<ParsedTarEntry> {
  const input = createReadStream(file, { signal })
  const gunzip = createGunzip()
  // A web stream ends with an error of its own, without a word of why.
  let fault: Error | null = null
  input.on('error', (error) => {
    fault ??= error
    gunzip.destroy(error)
  })
  gunzip.on('error', (error) => {
    fault ??= error
  })
  try {
    // The cast: Node's type of a web stream is not that of the library, which is the same.
    const web = Readable.toWeb(input.pipe(gunzip)) as ReadableStream<Uint8Array>
    yield* web.pipeThrough(createTarDecoder({ strict: true }))
  } catch (error) {
    throw fault ?? error
  } finally {
    input.destroy()
    gunzip.destroy()
  }
}

/** All of an entry. @throws SyntaxError for one that is larger than it may be */
export async function readEntryBytes(entry: ParsedTarEntry, maxBytes: number): Promise<Buffer> {
  if (entry.header.size > maxBytes) throw new SyntaxError('too large')
  const chunks: Uint8Array[] = []
  for await (const chunk of entry.body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function readJson(entry: ParsedTarEntry, maxBytes: number) {
  const text = await readEntryBytes(entry, maxBytes)
  return {
    value: JSON.parse(text.toString('utf8')),
    digest: digestOfBytes(text),
    size: text.length,
  }
}

function parseManifest(value: unknown, file: string): BackupManifest {
  const format = v.safeParse(v.object({ format: v.number(), keyway: v.string() }), value)
  if (format.success && format.output.format > BACKUP_FORMAT) {
    throw new BackupError(
      `${file} was made by Keyway ${format.output.keyway}, in a form that this version does not know: restore it with that version or a newer one`,
    )
  }
  return v.parse(BackupManifest, value)
}

/** What a file is told to be that is not as it was written. */
export const damaged = (file: string, why: string): BackupError =>
  new BackupError(
    `${file} is not a whole backup of Keyway: ${why}. Nothing was changed. Copy it again from where it was made, or use another`,
  )

const notOurs = (file: string): BackupError =>
  new BackupError(
    `${file} is not a backup of Keyway: it does not begin as one. Nothing was changed. Name a file that \`keyway backup\` has written`,
  )

/** The message of an error of a file system, gzip, tar or JSON. */
async function translated(error: unknown, file: string, isOurs: boolean): Promise<unknown> {
  if (error instanceof BackupError) return error
  const { code, syscall, message }: NodeJS.ErrnoException = errorOf(error)
  if (syscall !== undefined || code === 'ABORT_ERR') return error
  const { size } = await stat(file)
  if (size === 0) return damaged(file, 'it is empty')
  if (code === 'Z_BUF_ERROR' || /truncated/i.test(message))
    return damaged(file, `it was cut off after ${size} bytes`)
  if (/header check|Invalid tar/.test(message) && !isOurs) return notOurs(file)
  if (code?.startsWith('Z_')) return damaged(file, 'some of its bytes were changed')
  return damaged(file, `what it holds cannot be read (${message || code || 'no reason was given'})`)
}
