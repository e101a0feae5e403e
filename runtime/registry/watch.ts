/**
 * Finds the connector folders below the plugin directories, now and while the host runs. A folder is
 * taken when all its files have stood still for a moment, so that half a copy is never looked at.
 */
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { watch } from 'chokidar'

/** How long a folder's files must stand still, in milliseconds. */
const STILL_MS = 200

export type Watched = {
  /** Resolves when every folder that was there at the start has been looked at once. */
  first: Promise<void>
  stop(): Promise<void>
}

/** `onFolder` and `onGone` get the folder's path; both may be called again and again. */
export type FolderEvents = {
  onFolder(directory: string): Promise<void>
  onGone(directory: string): void
  onError(error: Error): void
}

/** Watches directories whose immediate sub-folders are connectors. */
export function watchDirectories(directories: readonly string[], events: FolderEvents): Watched {
  const timers = new Map<string, NodeJS.Timeout>()

  const look = async (folder: string): Promise<void> => {
    try {
      if (await isDirectory(folder)) await events.onFolder(folder)
      else events.onGone(folder)
    } catch (error) {
      // One folder that cannot be looked at stops no other.
      events.onError(error as Error)
    }
  }

  const touched = (file: string): void => {
    const folder = folderOf(directories, file)
    if (folder === null) return
    clearTimeout(timers.get(folder))
    timers.set(
      folder,
      setTimeout(() => {
        timers.delete(folder)
        void look(folder)
      }, STILL_MS),
    )
  }

  const watcher = watch([...directories], {
    ignoreInitial: true,
    ignored: (file) => path.basename(file).startsWith('.') && !directories.includes(file),
    depth: 12,
  })
  watcher.on('all', (_event, file) => touched(file))
  watcher.on('error', (error) => events.onError(error as Error))

  // Before it is ready the watcher tells nothing: what changes between a first look and then is lost.
  let readied: () => void = () => {}
  const ready = new Promise<void>((resolve) => {
    readied = resolve
    watcher.once('ready', resolve)
  })
  let stopped = false

  return {
    first: ready.then(() => (stopped ? undefined : firstLook(directories, look, events))),
    async stop() {
      stopped = true
      readied()
      for (const timer of timers.values()) clearTimeout(timer)
      await watcher.close()
    },
  }
}

/** The folders that are there now, all looked at side by side. */
async function firstLook(
  directories: readonly string[],
  look: (folder: string) => Promise<void>,
  { onError }: FolderEvents,
): Promise<void> {
  const listed = directories.map((directory) =>
    foldersIn(directory).catch((error: Error) => {
      onError(error)
      return []
    }),
  )
  const folders = (await Promise.all(listed)).flat()
  await Promise.all(folders.map(look))
}

/** Immediate sub-folders of a plugin directory; a directory that is not there has none. */
export async function foldersIn(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    return entries
      .filter((entry) => !entry.name.startsWith('.') && entry.name !== 'node_modules')
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .map((entry) => path.join(directory, entry.name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** The connector folder that a file belongs to, or null for a file of the plugin directory itself. */
function folderOf(directories: readonly string[], file: string): string | null {
  for (const directory of directories) {
    const relative = path.relative(directory, file)
    if (relative === '' || relative.startsWith('..') || path.isAbsolute(relative)) continue
    const name = relative.split(path.sep)[0] as string
    if (name !== 'node_modules' && !name.startsWith('.')) return path.join(directory, name)
  }
  return null
}

async function isDirectory(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isDirectory()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
