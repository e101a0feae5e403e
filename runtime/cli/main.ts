/** The `keyway` command: parses the command line, runs the verb, and sets the exit code. */

import { CommanderError } from 'commander'
import { ConfigError } from '../config/config.ts'
import { visible } from '../observe/visible.ts'
import { RefusedError } from './operator/client.ts'
import { createProgram } from './program.ts'
import { terminalJson } from './terminal/json.ts'
import { EXIT } from './terminal/options.ts'

// It is not an error if a reader such as `head` stops reading.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(EXIT.done)
})

try {
  await createProgram().parseAsync()
} catch (error) {
  // Ctrl-C also ends programs that this one started, such as the bundler, and their end may be reported
  // first.
  await new Promise((resolve) => setImmediate(setImmediate, resolve))
  // Commander has already printed the error in the command line, or the help.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? EXIT.done : EXIT.usage)
  if (!(error instanceof ConfigError)) throw error
  // A wrong setting becomes a message. Anything already started ends with this process.
  const raw = error instanceof RefusedError ? error.raw : {}
  if (process.argv.includes('--json'))
    console.log(terminalJson({ error: { message: error.message }, ...raw }))
  else console.error(visible(error.message))
  process.exit(Array.isArray(raw['wants']) ? EXIT.waits : EXIT.refused)
}
