/** Folders of tests. */
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/**
 * Makes a folder that holds data directories. Root's database server runs as another user, and lies on the disk where
 * that one cannot come to the data directory: its files take a third more of processor time there than in memory.
 */
export function newFolder(name: string): string {
  const made = mkdtempSync(path.join(tmpdir(), `keyway-${name}-`))
  chmodSync(made, 0o711)
  return made
}
