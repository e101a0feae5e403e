/** Reads a backup file: its manifest first, then each entry, which is compared with the digest in the end. */
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

/** A complete backup, and its entries. */
export type WholeBackup = { manifest: BackupManifest; end: End; bytes: number }

type ReadOptions = {
  file: string
  /**
   * Returns the operator's secret with which the backup must be sealed, or throws why it cannot be restored.
   */
  accept(manifest: BackupManifest): BackupKey
  /**
   * Reads each entry between manifest and end to its end and returns its description.
   * @throws BackupError
   */
  take(entry: ParsedTarEntry, manifest: BackupManifest): Promise<ArchiveEntry>
  signal: AbortSignal
  onProgress(progress: { entries: number; bytes: number }): void
}

/**
 * Reads a whole backup. Only when this has returned, the backup is known to be complete and to be sealed by a
 * holder of the secret.
 *
 * @throws BackupError if the file is not a complete backup, and the errors of `accept` and `take`
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

/** Checks every entry against the end, and the seal of the end against the secret. */
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

/** Yields the entries of the tar, one after another. Each must be read to its end. */
export async function* entriesIn(
  file: string,
  signal: AbortSignal,
): AsyncGenerator<ParsedTarEntry> {
  const input = createReadStream(file, { signal })
  const gunzip = createGunzip()
  // A web stream ends with an error of its own that lacks the reason.
  let fault: Error | null = null
  input.on('error', (error) => {
    fault ??= error
    gunzip.destroy(error)
  })
  gunzip.on('error', (error) => {
    fault ??= error
  })
  try {
    // The cast: Node's type of a web stream differs from the library's, but the stream is the same.
    const web = Readable.toWeb(input.pipe(gunzip)) as ReadableStream<Uint8Array>
    yield* web.pipeThrough(createTarDecoder({ strict: true }))
  } catch (error) {
    throw fault ?? error
  } finally {
    input.destroy()
    gunzip.destroy()
  }
}

/**
 * Reads a whole entry.
 * @throws SyntaxError if it is too large
 */
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

/** Makes the error of a file that differs from what was written. */
export const damaged = (file: string, why: string): BackupError =>
  new BackupError(
    `${file} is not a whole backup of Keyway: ${why}. Nothing was changed. Copy it again from where it was made, or use another`,
  )

const notOurs = (file: string): BackupError =>
  new BackupError(
    `${file} is not a backup of Keyway: it does not begin as one. Nothing was changed. Name a file that \`keyway backup\` has written`,
  )

/** Translates an error of a file system, gzip, tar or JSON. */
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
