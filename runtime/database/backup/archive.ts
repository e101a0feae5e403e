/**
 * Writes entries into a backup file: streamed, digested and sealed. The file gets its name only when it is
 * complete.
 */
import { createHash, randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { link, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { createTarPacker } from 'modern-tar'
import { codeOf, ifMissing } from '../../contract/errors/thrown.ts'
import { syncFolder } from '../sync-folder.ts'
import { type ArchiveEntry, BackupError, type BackupKey, END_NAME, sealOf } from './format.ts'

export type ArchiveWriter = {
  /** Adds a file of exactly `size` bytes. */
  add(
    name: string,
    size: number,
    content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  ): Promise<void>
  addBytes(name: string, content: Uint8Array): Promise<void>
  addFolder(name: string): Promise<void>
  /** Adds the end. */
  seal(key: BackupKey, completeUntil: string, format?: number): Promise<void>
}

type ArchiveOptions = {
  file: string
  force: boolean
  signal: AbortSignal
  /** Makes a hard link. */
  makeLink?: typeof link
}

/** Compression level. Pages of tables shrink well at the lowest; a higher one costs time and saves little. */
const LEVEL = 1

/**
 * Writes a file by `fill`. Until that has ended, the file has a temporary name. A failure leaves no file.
 *
 * @returns the size of the file, in bytes
 * @throws BackupError if the file exists and may not be replaced
 */
export async function writeArchive(
  { file, force, signal, makeLink = link }: ArchiveOptions,
  fill: (writer: ArchiveWriter) => Promise<void>,
): Promise<number> {
  if (!force) await refuseExisting(file)
  await dropAbandoned(file)
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`
  const { readable, controller } = createTarPacker()
  try {
    const output = createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true })
    // The cast: Node's type of a web stream differs from the library's, but the stream is the same.
    const source = Readable.fromWeb(readable as Parameters<typeof Readable.fromWeb>[0])
    const written = pipeline(source, createGzip({ level: LEVEL }), output, { signal })
    const filled = fill(createWriter(controller)).then(
      () => controller.finalize(),
      (error) => {
        controller.error(error)
        throw error
      },
    )
    const [write, filling] = await Promise.allSettled([written, filled])
    // A full disk fails the writer. `fill` only learns that the stream has ended.
    if (write.status === 'rejected') throw write.reason
    if (filling.status === 'rejected') throw filling.reason
    const { size } = await stat(partial)
    await publish(partial, file, force, makeLink)
    return size
  } finally {
    await rm(partial, { force: true })
  }
}

function createWriter(controller: ReturnType<typeof createTarPacker>['controller']): ArchiveWriter {
  const entries: ArchiveEntry[] = []
  const mtime = new Date()
  const add: ArchiveWriter['add'] = async (name, size, content) => {
    const hash = createHash('sha256')
    const body = controller.add({ name, size, type: 'file', mode: 0o600, mtime }).getWriter()
    for await (const chunk of content) {
      hash.update(chunk)
      await body.write(chunk)
    }
    await body.close()
    entries.push([name, size, hash.digest('hex')])
  }
  return {
    add,
    addBytes: (name, content) => add(name, content.length, [content]),
    async addFolder(name) {
      await controller.add({ name, size: 0, type: 'directory', mode: 0o700, mtime }).close()
      entries.push([name, 0, ''])
    },
    async seal(key, completeUntil, format) {
      const end = { complete_until: completeUntil, entries: [...entries] }
      await add(END_NAME, ...jsonBytes({ ...end, seal: sealOf(key, end, format) }))
    },
  }
}

function jsonBytes(value: unknown): [size: number, content: Uint8Array[]] {
  const bytes = Buffer.from(JSON.stringify(value))
  return [bytes.length, [bytes]]
}

/** How long a temporary file is not written to before it counts as abandoned, in milliseconds. */
const ABANDONED_MS = 3_600_000

/** Removes temporary files that killed backups to the same name left. */
async function dropAbandoned(file: string): Promise<void> {
  const folder = path.dirname(file)
  for (const name of await readdir(folder)) {
    if (!name.startsWith(`${path.basename(file)}.`) || !/\.[0-9a-f]{8}\.partial$/.test(name))
      continue
    const found = await stat(path.join(folder, name)).catch(() => null)
    if (found && Date.now() - found.mtimeMs > ABANDONED_MS)
      await rm(path.join(folder, name), { force: true })
  }
}

/** Errors of file systems without hard links, such as exFAT and mounted object storage. */
const NO_LINKS: readonly (string | undefined)[] = [
  'EPERM',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EMLINK',
]

async function publish(
  partial: string,
  file: string,
  force: boolean,
  makeLink: typeof link,
): Promise<void> {
  if (force) await rename(partial, file)
  else {
    // Unlike a rename, a link does not replace a file that has appeared in the meantime.
    await makeLink(partial, file).catch(async (error) => {
      if (codeOf(error) === 'EEXIST') throw existing(file)
      if (!NO_LINKS.includes(codeOf(error))) throw error
      await claim(file)
      await rename(partial, file)
    })
  }
  await syncFolder(path.dirname(file))
}

/** Creates an empty file, which a rename may replace. @throws BackupError if the file exists */
async function claim(file: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600).catch((error) => {
    throw codeOf(error) === 'EEXIST' ? existing(file) : error
  })
  await handle.close()
}

async function refuseExisting(file: string): Promise<void> {
  const found = await stat(file).catch(ifMissing(null))
  if (found) throw existing(file)
}

const existing = (file: string): BackupError =>
  new BackupError(`${file} is there already; choose another name, or replace it with --force`)
