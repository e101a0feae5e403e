/** The built-in connectors, which are part of the repository. */
import { execFileSync } from 'node:child_process'
import path from 'node:path'

const ROOT = path.join(import.meta.dirname, '..')

/** Returns the folders below plugins/ that git tracks, in order. */
export function trackedConnectors(): string[] {
  const files = execFileSync('git', ['ls-files', '--', 'plugins/*/connector.json'], { cwd: ROOT })
  return String(files)
    .split('\n')
    .filter((file) => file !== '')
    .map((file) => path.join(ROOT, path.dirname(file)))
    .sort()
}
