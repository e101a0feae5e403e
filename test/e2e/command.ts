/** Runs the real `keyway` command as a child process, with a separate environment. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { PASSWORD_FILE } from '../../runtime/database/server-place.ts'
import { forgetDatabase } from '../database/forget.ts'
import { newFolder } from '../kit/folder.ts'
import { withVerdicts } from '../kit/template.ts'
import { isAlive } from './until.ts'

export const ROOT: string = path.join(import.meta.dirname, '..', '..')
/** The command's file in the checkout. */
export const KEYWAY: string = path.join(ROOT, 'runtime', 'cli', 'keyway.mjs')

export type Ended = { code: number | null; signal: NodeJS.Signals | null }

export type Command = {
  pid: number
  /** Everything printed so far, including errors. */
  output(): string
  /** Waits until the output matches; throws if the command ends before. */
  prints(pattern: RegExp): Promise<RegExpExecArray>
  kill(signal: NodeJS.Signals): void
  /** Signals the command and all its children, as a terminal does. */
  killGroup(signal: NodeJS.Signals): void
  ended: Promise<Ended>
}

export type CommandOptions = {
  env?: Record<string, string>
  cwd?: string
  /** The command's file; default: that of the checkout. */
  file?: string
  /** A program to run in place of the command, with all arguments. */
  program?: string
  /**
   * Leaves an empty data directory to the first start; otherwise it contains the verdicts on the built-in
   * connectors.
   */
  isFirst?: boolean
}

/** How long to wait for output, in milliseconds: patience for a loaded machine. */
const PATIENCE_MS = 60_000

const begun = new Set<ChildProcess>()
const homes = new Set<string>()

/** Whether no host has checked connectors there yet: a new or a restored data directory. */
function isFirstStart(dataDir: string): boolean {
  const found = statSync(dataDir, { throwIfNoEntry: false })
  if (!found) return true
  return found.isDirectory() && !existsSync(path.join(dataDir, 'connectors'))
}

/** Starts `keyway ...args` in a separate process group. */
export function begin(
  args: string[],
  { env = {}, cwd = ROOT, file = KEYWAY, program, isFirst = false }: CommandOptions = {},
): Command {
  const dataDir = env['KEYWAY_DATA_DIR']
  if (args[0] === 'start' && dataDir && !isFirst && isFirstStart(dataDir)) withVerdicts(dataDir)
  const { PATH = '', HOME = '' } = process.env
  const [run, all] = program ? [program, args] : [process.execPath, [file, ...args]]
  const child = spawn(run, all, {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  begun.add(child)
  const pid = child.pid as number
  let output = ''
  /** Checks of all waiters for output. */
  const looks = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8')
      for (const look of looks) look()
    })
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => {
      begun.delete(child)
      resolve({ code, signal })
    })
  })
  async function prints(pattern: RegExp): Promise<RegExpExecArray> {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>()
    const look = () => {
      const found = pattern.exec(output)
      if (found) resolve(found)
    }
    const fail = (why: string) =>
      reject(
        new Error(`keyway ${args.join(' ')} ${why} printing ${pattern}; it printed:\n${output}`),
      )
    const timer = setTimeout(() => fail(`has run for ${PATIENCE_MS} ms without`), PATIENCE_MS)
    looks.add(look)
    look()
    void ended.then(() => fail('ended without'))
    return promise.finally(() => {
      clearTimeout(timer)
      looks.delete(look)
    })
  }
  return {
    pid,
    output: () => output,
    prints,
    kill: (signal) => void child.kill(signal),
    killGroup: (signal) => void process.kill(-pid, signal),
    ended,
  }
}

/** Runs `keyway ...args` to its end. */
export async function run(
  args: string[],
  options: CommandOptions = {},
): Promise<Ended & { output: string }> {
  const command = begin(args, options)
  const ended = await command.ended
  return { ...ended, output: command.output() }
}

/** A folder that `stopCommands` removes. */
export async function newHome(): Promise<string> {
  const home = newFolder('e2e')
  homes.add(home)
  return home
}

/** Ends processes that a failed test has left. */
export async function stopCommands(): Promise<void> {
  for (const child of begun) {
    try {
      process.kill(-(child.pid as number), 'SIGKILL')
    } catch {
      // Its group has already ended.
    }
  }
  for (const home of homes) {
    for (const name of readdirSync(home)) {
      const dataDir = path.join(home, name)
      if (existsSync(path.join(dataDir, PASSWORD_FILE))) await forgetDatabase(dataDir)
    }
    await rm(home, { recursive: true, force: true })
    homes.delete(home)
  }
}

/** Processes whose command line contains a text, such as the path of a data directory. Linux only. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
      } catch {
        // The process has ended in between.
        return false
      }
    })
    .map(Number)
    .filter(isAlive)
}
