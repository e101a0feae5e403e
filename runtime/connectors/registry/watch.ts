/**
 * Finds the connector folders below the plugin directories, now and while the host runs. A folder is
 * taken when all its files have stood still for a moment, so that half a copy is never looked at.
 */
import { realpathSync } from 'node:fs'
import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { errorOf, ifMissing } from '../../contract/errors/thrown.ts'
import { type Tree, watchTree } from './watch-tree.ts'

/** How long a folder's files must stand still, in milliseconds. */
const STILL_MS = 200

/** How long a look waits for the watch to be ready; what is ready later is looked at again. */
const READY_MS = 2000

export type Watched = {
  /** Resolves when every folder that was there at the start has been looked at once. */
  first: Promise<void>
  stop(): Promise<void>
}

/** `onFolder` and `onGone` get the folder's path; both may be called again and again. */
type FolderEvents = {
  onFolder(directory: string): Promise<void>
  onGone(directory: string): void
  onError(error: Error): void
}

/**
 * Watches directories whose immediate sub-folders are connectors. Such a sub-folder may be a link to
 * one; no link below it is followed.
 */
export function watchDirectories(directories: readonly string[], events: FolderEvents): Watched {
  const timers = new Map<string, NodeJS.Timeout>()
  const linked = new Map<string, { target: string; tree: Tree }>()
  const { onError } = events
  let stopped = false

  const look = async (folder: string): Promise<void> => {
    try {
      await follow(folder)
      if (stopped) return
      if (await isDirectory(folder)) await events.onFolder(folder)
      else events.onGone(folder)
    } catch (error) {
      // One folder that cannot be looked at stops no other.
      onError(errorOf(error))
    }
  }

  const onTouched = (folder: string): void => {
    if (stopped) return
    clearTimeout(timers.get(folder))
    timers.set(
      folder,
      setTimeout(() => {
        timers.delete(folder)
        void look(folder)
      }, STILL_MS),
    )
  }

  /** Watches what a folder that is a link leads to, in place of what it led to before. */
  async function follow(folder: string): Promise<void> {
    const before = linked.get(folder)
    const target = await targetOf(folder)
    // A target that is away for a moment goes on being watched: it may come back.
    if (target === before?.target || target === 'nowhere') return
    linked.delete(folder)
    await before?.tree.close()
    if (target === null || stopped) return
    const tree = watchTree([target], { folderOf: within(target, folder), onTouched, onError })
    linked.set(folder, { target, tree })
    await readyOrLate(tree, () => onTouched(folder))
  }

  const roots = directories.map((given) => ({ given, real: realOf(given) }))
  const tree = watchTree(
    roots.map(({ real }) => real),
    { folderOf: (file) => folderOf(roots, file), onTouched, onError },
  )
  const lookAtAll = async () => {
    if (!stopped) await firstLook(directories, look, events)
  }

  return {
    first: readyOrLate(tree, lookAtAll).then(lookAtAll),
    async stop() {
      stopped = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.all([tree, ...[...linked.values()].map((one) => one.tree)].map(close))
    },
  }
}

const close = (tree: Tree): Promise<void> => tree.close()

/**
 * Waits for a watch to be ready, but not for long. Before it is, it tells nothing: what changes between
 * a look and then is lost, so `whenLate` is called then.
 */
async function readyOrLate(tree: Tree, whenLate: () => unknown): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, READY_MS)
  })
  await Promise.race([tree.ready, late])
  clearTimeout(timer)
  if (!tree.isReady()) void tree.ready.then(whenLate)
}

/** The real path of what a link leads to, `nowhere` for one to nothing, null for what is no link. */
async function targetOf(folder: string): Promise<string | null> {
  const entry = await lstat(folder).catch(ifMissing(null))
  if (!entry?.isSymbolicLink()) return null
  return realpath(folder).catch(() => 'nowhere')
}

/** A directory's real path; its own where it is not there yet. */
function realOf(directory: string): string {
  try {
    return realpathSync(directory)
  } catch {
    // Not there yet, or not to be read: the watch says so.
    return directory
  }
}

/** Everything below a link's target belongs to the folder that is the link. */
const within =
  (target: string, folder: string) =>
  (file: string): string | null =>
    file === target || file.startsWith(target.endsWith(path.sep) ? target : target + path.sep)
      ? folder
      : null

/** The folders that are there now: those of a directory side by side, one directory after another. */
async function firstLook(
  directories: readonly string[],
  look: (folder: string) => Promise<void>,
  { onError }: FolderEvents,
): Promise<void> {
  for (const directory of directories) {
    const folders = await foldersIn(directory).catch((error: Error) => {
      onError(error)
      return []
    })
    await Promise.all(folders.map(look))
  }
}

/** Immediate sub-folders of a plugin directory; a directory that is not there has none. */
export async function foldersIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(ifMissing([]))
  return entries
    .filter((entry) => !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map((entry) => path.join(directory, entry.name))
}

/** The connector folder that a file belongs to, or null for a file of the plugin directory itself. */
function folderOf(roots: readonly { given: string; real: string }[], file: string): string | null {
  for (const { given, real } of roots) {
    const relative = path.relative(real, file)
    if (relative === '' || relative.startsWith('..') || path.isAbsolute(relative)) continue
    const [name = ''] = relative.split(path.sep)
    if (name !== 'node_modules' && !name.startsWith('.')) return path.join(given, name)
  }
  return null
}

const isDirectory = (file: string): Promise<boolean> =>
  stat(file).then((one) => one.isDirectory(), ifMissing(false))
