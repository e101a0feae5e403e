/**
 * The command of a checkout: its sources bundled to one program, and bundled again when one of them has changed. Plain
 * JavaScript, because the Node that starts it may be an old one.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..')
const bundler = path.join(root, 'scripts', 'bundle.ts')
const cache = path.join(root, 'node_modules', '.cache', 'keyway')

/** Exit code of the bundler if a source cannot be read. It has printed the reason. */
const WRONG_SOURCE = 3

/** Number of bundled programs to keep: one that is running may still load parts of its own. */
const KEPT = 8

/** Returns a digest of the path, size and time of each source, the bundler and npm's list of installed packages. */
function digest() {
  const sources = path.join(root, 'runtime')
  const files = readdirSync(sources, { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => path.join(sources, name))
  const installed = path.join(root, 'node_modules', '.package-lock.json')
  const hash = createHash('sha256')
  for (const file of [...files, bundler, installed]) {
    const { size, mtimeMs } = statSync(file)
    hash.update(`${file} ${size} ${mtimeMs}\n`)
  }
  return hash.digest('hex').slice(0, 16)
}

/** Removes all but the newest programs. */
function forgetOld() {
  const programs = readdirSync(cache)
    .filter((name) => name.startsWith('command-'))
    .map((name) => path.join(cache, name))
    .map((file) => ({ file, madeMs: madeMsOf(file) }))
    .sort((a, b) => b.madeMs - a.madeMs)
  for (const { file } of programs.slice(KEPT)) rmSync(file, { recursive: true, force: true })
}

/** Returns the time of a program, or 0 if another command has moved or removed it in the meantime. */
const madeMsOf = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Returns the file to run: the bundled program, or the first source file if the sources cannot be bundled. */
export function mainOfCheckout(node) {
  const sources = path.join(root, 'runtime', 'cli', 'main.ts')
  if (!existsSync(bundler)) return sources
  const folder = path.join(cache, `command-${digest()}`)
  const main = path.join(folder, 'main.js')
  if (existsSync(main)) return main
  // Loaded only when needed, which is rare.
  const { spawnSync } = createRequire(import.meta.url)('node:child_process')
  const { status } = spawnSync(node, ['--no-warnings', bundler, folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status === WRONG_SOURCE) process.exit(1)
  if (!existsSync(main)) return sources
  forgetOld()
  return main
}
