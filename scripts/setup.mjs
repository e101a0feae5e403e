/**
 * Installs missing packages before `npm start` and `npm test`. Plain JavaScript without dependencies: it runs
 * on any Node of the machine, and installs the Node that the rest needs.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..')
const installed = path.join(root, 'node_modules', '.package-lock.json')

/** Reports whether npm's record of the installation agrees with the lock file. */
function isFresh() {
  if (!existsSync(installed)) return false
  const wanted = packages(path.join(root, 'package-lock.json'))
  const have = packages(installed)
  return Object.entries(wanted).every(
    ([name, entry]) =>
      name === '' ||
      have[name]?.version === entry.version ||
      // A package for other platforms.
      (entry.optional && have[name] === undefined),
  )
}

function packages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages
}

if (!isFresh()) {
  console.log('Installing what Keyway needs (once; about half a minute) ...')
  // No package needs an install script: isolated-vm, esbuild and Node come as binaries.
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status } = spawnSync('npm', args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (status !== 0) {
    console.error('npm ci failed; its words are above. Mend that and run the same command again.')
    process.exit(status ?? 1)
  }
}
