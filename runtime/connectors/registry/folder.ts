/**
 * Reads a connector's folder once into memory, so that what is digested is what is compiled. Nothing outside
 * the folder's real path is read; links are followed only within it.
 */
import { createHash } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import path from 'node:path'

/** Maximum size of a folder, in bytes and in files. */
export const MAX_FOLDER_BYTES = 32 * 1024 * 1024
export const MAX_FOLDER_FILES = 5000

/** Maximum number of entries of any kind in all subfolders. Files that are not read are counted too. */
export const MAX_FOLDER_ENTRIES = 10_000

/** File types of a connector's folder. Others (editor files, pictures) are ignored. */
const READ = /\.(ts|mts|js|mjs|cjs|json|md|svg|png)$/i

/** Reports whether a file's content counts, by its name. */
export const isRead = (name: string): boolean => READ.test(name)

export type Folder = {
  directory: string
  /** Contents by path relative to the folder, with `/`. */
  files: Map<string, Buffer>
  /** SHA-256 over paths and contents, in hex. */
  digest: string
}

/** The folder cannot be a connector. The message says why and what to do. */
export class FolderError extends Error {}

/**
 * Reads a folder.
 *
 * @throws FolderError if it has no connector.json or is too large
 */
export async function readFolder(directory: string): Promise<Folder> {
  const folder = await readTree(directory)
  if (!folder.files.has('connector.json'))
    throw new FolderError('there is no connector.json in the folder')
  return folder
}

/** Reads the files below a directory. Links are followed only within it. */
async function readTree(directory: string): Promise<Folder> {
  const root = await realpath(directory)
  const files = new Map<string, Buffer>()
  let bytes = 0
  let looked = 0

  async function walk(folder: string): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true })
    looked += entries.length
    if (looked > MAX_FOLDER_ENTRIES)
      throw new FolderError(
        `too many files: the folder holds more than ${MAX_FOLDER_ENTRIES} files and folders; leave out what the connector does not need`,
      )
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.')) continue
      const file = path.join(folder, entry.name)
      if (entry.isDirectory()) {
        await walk(file)
        continue
      }
      if (!isRead(entry.name)) continue
      const size = await sizeOf(root, file, entry)
      if (size === null) continue
      bytes += size
      if (bytes > MAX_FOLDER_BYTES)
        throw new FolderError(
          `the folder holds more than ${MAX_FOLDER_BYTES} bytes; leave out what the connector does not need`,
        )
      if (files.size >= MAX_FOLDER_FILES)
        throw new FolderError(
          `the folder holds more than ${MAX_FOLDER_FILES} files; bundle its dependencies or leave some out`,
        )
      files.set(path.relative(root, file).replaceAll(path.sep, '/'), await readFile(file))
    }
  }

  await walk(root)
  return { directory: root, files, digest: digestOf(files) }
}

/** Returns the digest of a set of files. It depends on names and contents only. */
export function digestOf(files: ReadonlyMap<string, Buffer>): string {
  const hash = createHash('sha256')
  for (const [name, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`${name.length}:${name}:${content.length}:`).update(content)
  }
  return hash.digest('hex')
}

/** Returns the size of a file or of a link's target; null if it is not to be read. */
async function sizeOf(root: string, file: string, entry: Dirent): Promise<number | null> {
  if (!entry.isFile() && !(entry.isSymbolicLink() && (await staysInside(root, file)))) return null
  // A link may lead to a folder, or to a pipe without a writer.
  const target = await stat(file)
  return target.isFile() ? target.size : null
}

async function staysInside(root: string, link: string): Promise<boolean> {
  try {
    const target = await realpath(link)
    return target.startsWith(root + path.sep)
  } catch {
    // A dangling link counts as a missing file.
    return false
  }
}
