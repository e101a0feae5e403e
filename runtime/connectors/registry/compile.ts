/**
 * Compiles a connector in a disposable, confined process. It sees a private copy of exactly the files that
 * were digested, has no network, and is killed when it takes too long.
 */
import { spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { codeOf } from '../../contract/errors/thrown.ts'
import type { Compiled } from './compiler.ts'
import type { Folder } from './folder.ts'

export type CompileOptions = {
  /** Folder for private copies, one subfolder per compilation. */
  workDirectory: string
  /** Command prefix of the compiler: the containment layers of this machine. */
  prefix: readonly string[]
  timeoutMs: number
}

/** Maximum output of the compiler, in bytes: the largest bundle, escaped. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024

const RUNTIME = path.join(import.meta.dirname, '..', '..')
const ROOT = path.join(RUNTIME, '..')

/** File of the compiler that ships next to a bundled command (scripts/bundle.ts). */
declare const BUILT_COMPILER: string | undefined

/** Otherwise its source, with the extension of this file. */
const COMPILER =
  typeof BUILT_COMPILER === 'undefined'
    ? path.join(import.meta.dirname, `compiler${path.extname(import.meta.filename)}`)
    : BUILT_COMPILER

/** Location of the bundler: in the checkout, or next to the installed package. */
const PACKAGES = path.join(
  path.dirname(createRequire(import.meta.url).resolve('esbuild/package.json')),
  '..',
)

/** Files that the compiler reads. For a link both names, since the permission is checked for its target. */
const READABLE = [
  RUNTIME,
  path.join(ROOT, 'node_modules'),
  path.join(ROOT, 'package.json'),
  PACKAGES,
].flatMap((file) => (existsSync(file) ? [...new Set([file, realpathSync(file)])] : [file]))

/** Bundles a connector's sources to one script, or reports what is wrong with them. */
export async function compile(folder: Folder, options: CompileOptions): Promise<Compiled> {
  if (!folder.files.has('connector.ts'))
    return { ok: false, findings: ['there is no connector.ts in the folder'] }
  await mkdir(options.workDirectory, { recursive: true, mode: 0o700 })
  const copy = await mkdtemp(path.join(options.workDirectory, 'compile-'))
  try {
    for (const [name, content] of folder.files) {
      const file = path.join(copy, name)
      await mkdir(path.dirname(file), { recursive: true })
      await writeFile(file, content)
    }
    return await run(copy, options)
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // It ended in the meantime, which is fine.
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

function run(copy: string, { prefix, timeoutMs }: CompileOptions): Promise<Compiled> {
  const [command = '', ...args] = [
    ...prefix,
    process.execPath,
    '--permission',
    '--allow-child-process',
    `--allow-fs-read=${copy}`,
    // Not the whole checkout, which may contain the data directory with its keys.
    ...READABLE.map((file) => `--allow-fs-read=${file}`),
    '--no-warnings',
    '--max-old-space-size=512',
    COMPILER,
    copy,
    RUNTIME,
  ]
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: copy,
      env: { GOMEMLIMIT: '512MiB', GOMAXPROCS: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A process group of its own, so that the bundler's child process is ended with it.
      detached: true,
    })
    // First: if the host is out of descriptors, this event is the only report.
    child.on('error', reject)
    const output: Buffer[] = []
    let bytes = 0
    let errors = ''
    let failure: string | null = null
    const end = (why: string) => {
      failure ??= why
      if (child.pid && child.exitCode === null && child.signalCode === null) killGroup(child.pid)
    }
    const timer = setTimeout(() => end(`compiling took longer than ${timeoutMs} ms`), timeoutMs)
    child.stdout?.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      output.push(chunk)
      if (bytes > MAX_OUTPUT_BYTES) end('the bundle is too large')
    })
    child.stderr?.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString('utf8')).slice(-2000)
    })
    child.on('close', (code) => {
      clearTimeout(timer)
      if (failure !== null) return resolve({ ok: false, findings: [failure] })
      if (code === 0) return resolve(JSON.parse(Buffer.concat(output).toString('utf8')))
      reject(new Error(`the compiler ended with ${code}: ${errors.trim()}`))
    })
  })
}
