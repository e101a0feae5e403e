/**
 * Runs commands that only print an answer in a long-lived process (command-process.ts), one after another.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import path from 'node:path'
import { mainOfCheckout } from '../../runtime/cli/checkout.mjs'
import { basics } from './program.ts'

type Surroundings = { env: Record<string, string>; cwd: string }

/** Command line. `end` is written after the command's output. */
export type Asked = Surroundings & { args: readonly string[]; end: string }
export type Told = { end: string; code: number }

/** Exit code of a command, and all its output. */
export type Ended = { code: number; out: string; err: string }

/** File that the launcher runs. Running it directly saves one process per command. */
export const MAIN: string = mainOfCheckout(process.execPath)

type Running = {
  child: ChildProcess
  run(args: readonly string[], of: Surroundings): Promise<Ended>
}

function start(): Running {
  const program = path.join(import.meta.dirname, 'command-process.ts')
  const child = spawn(process.execPath, ['--no-warnings', program, MAIN], {
    env: basics(),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const [out, err] = [child.stdout as Socket, child.stderr as Socket]
  const output = { out: '', err: '' }
  const codes = new Map<string, number>()
  /** Checks for each command that has not ended. */
  const looks = new Map<string, () => void>()
  const look = () => {
    for (const one of [...looks.values()]) one()
  }
  for (const [name, stream] of Object.entries({ out, err }) as ['out' | 'err', Socket][])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
      look()
    })
  child.on('message', ({ end, code }: Told) => {
    codes.set(end, code)
    look()
  })
  const { promise: gone, reject } = Promise.withResolvers<never>()
  gone.catch(() => {})
  child.once('exit', (code, signal) => {
    reject(new Error(`the process that runs commands ended with ${code ?? signal}: ${output.err}`))
  })
  // The child ends with this process, which does not wait for it.
  child.unref()
  child.channel?.unref()
  for (const stream of [out, err]) stream.unref()

  /** Takes the output before a mark. */
  function take(name: 'out' | 'err', end: string): string {
    const [text = '', ...rest] = output[name].split(end)
    output[name] = rest.join(end)
    return text
  }

  return {
    child,
    run(args, surroundings) {
      const end = `\0${randomUUID()}\0`
      const ended = new Promise<Ended>((resolve) => {
        looks.set(end, () => {
          const code = codes.get(end)
          if (code === undefined || !output.out.includes(end) || !output.err.includes(end)) return
          looks.delete(end)
          codes.delete(end)
          resolve({ code, out: take('out', end), err: take('err', end) })
        })
      })
      child.send({ args, end, ...surroundings } satisfies Asked)
      return Promise.race([ended, gone])
    },
  }
}

let running: Running | null = null

/** Runs `keyway ...args` to its end. */
export function runCommand(args: readonly string[], surroundings: Surroundings): Promise<Ended> {
  if (!running?.child.connected) running = start()
  return running.run(args, surroundings)
}
