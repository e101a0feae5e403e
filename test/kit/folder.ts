/** Folders of tests. */
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/**
 * Makes a folder for data directories. Root's database server runs as another user, and uses the disk if that
 * user cannot enter the data directory. Its files take a third more processor time there than in memory.
 */
export function newFolder(name: string): string {
  const made = mkdtempSync(path.join(tmpdir(), `keyway-${name}-`))
  chmodSync(made, 0o711)
  return made
}
