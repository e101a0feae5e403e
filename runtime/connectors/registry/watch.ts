/**
 * Finds the connector folders below the plugin directories, at the start and while the host runs. A folder is
 * read once its files have been unchanged for a moment, so that an incomplete copy is never read.
 */
import { realpathSync } from 'node:fs'
import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { errorOf, ifMissing } from '../../contract/errors/thrown.ts'
import { type Tree, watchTree } from './watch-tree.ts'

/** How long a folder's files must be unchanged, in milliseconds. */
const STILL_MS = 200

/**
 * How long to wait for the watch before the first look, in milliseconds. If it is ready later, another look
 * follows.
 */
const READY_MS = 2000

export type Watched = {
  /** Resolves when every folder that existed at the start has been looked at once. */
  first: Promise<void>
  stop(): Promise<void>
}

/** `onFolder` and `onGone` get the folder's path. Both may be called repeatedly. */
type FolderEvents = {
  onFolder(directory: string): Promise<void>
  onGone(directory: string): void
  onError(error: Error): void
}

/**
 * Watches directories whose immediate subfolders are connectors. Such a subfolder may be a link; links below
 * it are not followed.
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
      // A folder that cannot be read does not stop the others.
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

  /** Watches the target of a folder that is a link, instead of its previous target. */
  async function follow(folder: string): Promise<void> {
    const before = linked.get(folder)
    const target = await targetOf(folder)
    // Keep watching a target that is temporarily missing: it may come back.
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
 * Waits a short time for a watch to be ready. Changes before that are not reported, so `whenLate` is called
 * if it becomes ready later.
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

/** Returns the real path of a link's target, `nowhere` for a dangling link, null if it is not a link. */
async function targetOf(folder: string): Promise<string | null> {
  const entry = await lstat(folder).catch(ifMissing(null))
  if (!entry?.isSymbolicLink()) return null
  return realpath(folder).catch(() => 'nowhere')
}

/** Returns a directory's real path, or the path itself if it does not exist yet. */
function realOf(directory: string): string {
  try {
    return realpathSync(directory)
  } catch {
    // Missing or unreadable: the watch reports it.
    return directory
  }
}

/** Maps everything below a link's target to the folder that is the link. */
const within =
  (target: string, folder: string) =>
  (file: string): string | null =>
    file === target || file.startsWith(target.endsWith(path.sep) ? target : target + path.sep)
      ? folder
      : null

/** Reads the existing folders: those of one directory concurrently, one directory after another. */
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

/** Lists the immediate subfolders of a plugin directory; none if it does not exist. */
export async function foldersIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(ifMissing([]))
  return entries
    .filter((entry) => !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map((entry) => path.join(directory, entry.name))
}

/** Returns the connector folder of a file, or null for a file of the plugin directory itself. */
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
