/**
 * Runs commands one after another in one process (commands.ts), because starting Node and loading the program
 * takes longer than most of them. Each command is the program's first file, run again, with its own
 * arguments, environment and folder. Parts already loaded stay loaded.
 */
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import type { Asked, Told } from './commands.ts'

const [, , main = ''] = process.argv

/** Thrown by `process.exit` of a command, which this process survives. */
class Exit extends Error {
  readonly code: number

  constructor(code: number) {
    super(`exit ${code}`)
    this.code = code
  }
}

const leave = process.exit
process.exit = (code) => {
  throw new Exit(Number(code ?? process.exitCode ?? 0))
}

let runs = 0

async function run({ args, env, cwd }: Asked): Promise<number> {
  process.argv = [process.execPath, main, ...args]
  process.env = env
  process.exitCode = undefined
  process.chdir(cwd)
  runs += 1
  try {
    // Node runs it again if its URL differs.
    await import(`${pathToFileURL(main).href}?${runs}`)
    return Number(process.exitCode ?? 0)
  } catch (thrown) {
    if (thrown instanceof Exit) return thrown.code
    // Node itself would end like this.
    process.stderr.write(`${inspect(thrown)}\n`)
    return 1
  } finally {
    // Each run listens for errors of its output.
    process.stdout.removeAllListeners('error')
  }
}

let before: Promise<unknown> = Promise.resolve()

process.on('message', (asked: Asked) => {
  before = before.then(async () => {
    const outcome: Told = { end: asked.end, code: await run(asked) }
    for (const stream of [process.stdout, process.stderr]) stream.write(asked.end)
    process.send?.(outcome)
  })
})
process.on('disconnect', () => leave(0))
