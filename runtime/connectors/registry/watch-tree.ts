/**
 * Reports changes below a directory. Links are not followed, only file types of connectors are watched, and
 * only a limited number of entries per connector: a folder cannot make the host walk the disk.
 */
import path from 'node:path'
import { watch } from 'chokidar'
import { errorOf } from '../../contract/errors/thrown.ts'
import { isRead, MAX_FOLDER_ENTRIES } from './folder.ts'

export type Tree = {
  /** Resolves when changes are being reported, or when it is closed. */
  ready: Promise<void>
  isReady(): boolean
  close(): Promise<void>
}

type TreeEvents = {
  /** Returns the connector folder of a file, or null if it is not to be watched. */
  folderOf(file: string): string | null
  onTouched(folder: string): void
  onError(error: Error): void
}

/** Watches directories, which need not exist yet. `roots` are real paths. */
export function watchTree(roots: readonly string[], events: TreeEvents): Tree {
  const { folderOf, onTouched, onError } = events
  /** Watched entries of each folder. */
  const watched = new Map<string, Set<string>>()

  const hasRoom = (folder: string, file: string, count: boolean): boolean => {
    const entries = watched.get(folder) ?? new Set()
    if (entries.has(file)) return true
    if (entries.size >= MAX_FOLDER_ENTRIES) return false
    if (count) watched.set(folder, entries.add(file))
    return true
  }

  const watcher = watch([...roots], {
    ignoreInitial: true,
    followSymlinks: false,
    depth: 12,
    ignored(file, stats) {
      if (roots.includes(file)) return false
      const folder = folderOf(file)
      if (folder === null || path.basename(file).startsWith('.')) return true
      if (stats?.isFile() && !isRead(file)) return true
      return !hasRoom(folder, file, stats !== undefined)
    },
  })
  watcher.on('all', (event, file) => {
    const folder = folderOf(file)
    if (folder === null) return
    if (event === 'unlink' || event === 'unlinkDir') watched.get(folder)?.delete(file)
    onTouched(folder)
  })
  watcher.on('error', (error) => onError(errorOf(error)))

  let isReady = false
  let readied: () => void = () => {}
  const ready = new Promise<void>((resolve) => {
    readied = resolve
  })
  watcher.once('ready', () => {
    isReady = true
    readied()
  })
  return {
    ready,
    isReady: () => isReady,
    async close() {
      readied()
      await watcher.close()
    },
  }
}
