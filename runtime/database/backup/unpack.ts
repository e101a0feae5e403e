/** Reads a backup file: its manifest first, then the data directory into a folder, each byte checked. */

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, mkdir, open, stat } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import * as v from 'valibot'
import { errorOf } from '../../contract/errors/thrown.ts'
import {
  BackupError,
  type BackupKey,
  CLUSTER_PREFIX,
  digestOf,
  END_NAME,
  End,
  type Entry,
  FORMAT,
  isClusterName,
  isSealedWith,
  MANIFEST_NAME,
  MAX_END_BYTES,
  MAX_MANIFEST_BYTES,
  Manifest,
} from './format.ts'

export type Unpacked = { manifest: Manifest; completeUntil: string; files: number; bytes: number }

export type UnpackOptions = {
  file: string
  /** Empty, for the data directory. */
  folder: string
  /** Says with which of the operator's secrets the backup must be sealed, or why it cannot be restored. */
  accept(manifest: Manifest): BackupKey
  signal: AbortSignal
  onProgress(progress: { files: number; bytes: number }): void
}

/**
 * Unpacks a backup. What was written need not be on disk: a server that recovers a copy sees to that first.
 *
 * @throws BackupError when the file is no whole backup, and what `accept` throws.
 */
export async function unpack({
  file,
  folder,
  accept,
  signal,
  onProgress,
}: UnpackOptions): Promise<Unpacked> {
  const entries: Entry[] = []
  let manifest: Manifest | null = null
  let key: BackupKey | null = null
  let end: End | null = null
  let bytes = 0
  try {
    for await (const entry of entriesOf(file, signal)) {
      const { name, type } = entry.header
      if (end) throw damaged(file, `something follows its end: ${name}`)
      if (!manifest) {
        if (name !== MANIFEST_NAME) throw notOurs(file)
        const { value, digest, size } = await readJson(entry, MAX_MANIFEST_BYTES)
        manifest = parseManifest(value, file)
        key = accept(manifest)
        entries.push([name, size, digest])
      } else if (name === END_NAME) {
        end = v.parse(End, (await readJson(entry, MAX_END_BYTES)).value)
      } else {
        if (!isClusterName(name)) throw damaged(file, `it holds ${JSON.stringify(name)}`)
        const target = path.join(folder, name.slice(CLUSTER_PREFIX.length))
        if (type === 'directory') {
          await entry.body.cancel()
          await mkdir(target, { recursive: true, mode: 0o700 })
          entries.push([name, 0, ''])
        } else if (type === 'file') {
          const written = await writeEntry(entry, target)
          bytes += written.size
          entries.push([name, written.size, written.digest])
        } else throw damaged(file, `it holds ${name}, which is neither a file nor a folder`)
        onProgress({ files: entries.length, bytes })
      }
    }
  } catch (error) {
    throw await translated(error, file, manifest !== null)
  }
  if (!manifest) throw notOurs(file)
  if (!key || !end) throw damaged(file, 'its end is missing: it was cut off')
  check(file, entries, end, key)
  return { manifest, completeUntil: end.complete_until, files: entries.length, bytes }
}

/** Every entry is what the end says, and the end is sealed by who holds the secret. */
function check(file: string, entries: readonly Entry[], end: End, key: BackupKey): void {
  if (!isSealedWith(key, end))
    throw damaged(
      file,
      `its seal is not of this secret (key id ${key.id}), so it was written or changed with another secret`,
    )
  const wrong = entries.findIndex((entry, at) => String(entry) !== String(end.entries[at]))
  const first = wrong >= 0 ? entries[wrong]?.[0] : end.entries[entries.length]?.[0]
  if (first !== undefined) throw damaged(file, `${first} is not what was written`)
}

async function* entriesOf(file: string, signal: AbortSignal): AsyncGenerator<ParsedTarEntry> {
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
    const web = Readable.toWeb(input.pipe(gunzip)) as ReadableStream<Uint8Array>
    yield* web.pipeThrough(createTarDecoder({ strict: true }))
  } catch (error) {
    throw fault ?? error
  } finally {
    input.destroy()
    gunzip.destroy()
  }
}

async function readJson(entry: ParsedTarEntry, maxBytes: number) {
  if (entry.header.size > maxBytes) throw new SyntaxError('too large')
  const chunks: Uint8Array[] = []
  for await (const chunk of entry.body) chunks.push(chunk)
  const text = Buffer.concat(chunks)
  return { value: JSON.parse(text.toString('utf8')), digest: digestOf(text), size: text.length }
}

function parseManifest(value: unknown, file: string): Manifest {
  const format = v.safeParse(v.object({ format: v.number(), keyway: v.string() }), value)
  if (format.success && format.output.format > FORMAT) {
    throw new BackupError(
      `${file} was made by Keyway ${format.output.keyway}, in a form that this version does not know: restore it with that version or a newer one`,
    )
  }
  return v.parse(Manifest, value)
}

async function writeEntry(entry: ParsedTarEntry, target: string) {
  const hash = createHash('sha256')
  let size = 0
  await mkdir(path.dirname(target), { recursive: true, mode: 0o700 })
  const handle = await open(target, 'wx', 0o600)
  try {
    for await (const chunk of entry.body) {
      hash.update(chunk)
      size += chunk.length
      await handle.writeFile(chunk)
    }
  } finally {
    await handle.close()
  }
  await chmod(target, 0o600)
  return { size, digest: hash.digest('hex') }
}

const damaged = (file: string, why: string): BackupError =>
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
