/** The `keyway` command: parses what was typed, runs the verb, and says how it ended by an exit code. */

import { CommanderError } from 'commander'
import { ConfigError } from '../config/config.ts'
import { visible } from '../observe/visible.ts'
import { RefusedError } from './operator/client.ts'
import { createProgram } from './program.ts'
import { terminalJson } from './terminal/json.ts'
import { EXIT } from './terminal/options.ts'

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(EXIT.done)
})

try {
  await createProgram().parseAsync()
} catch (error) {
  // Ctrl-C ends a program that this one started, such as the bundler, too, and its end may be heard of first.
  await new Promise((resolve) => setImmediate(setImmediate, resolve))
  // Commander has said what is wrong with the command line itself, or shown the help.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? EXIT.done : EXIT.usage)
  if (!(error instanceof ConfigError)) throw error
  // A wrong setting becomes a message; what was started meanwhile ends with this process.
  const raw = error instanceof RefusedError ? error.raw : {}
  if (process.argv.includes('--json'))
    console.log(terminalJson({ error: { message: error.message }, ...raw }))
  else console.error(visible(error.message))
  process.exit(Array.isArray(raw['wants']) ? EXIT.waits : EXIT.refused)
}
