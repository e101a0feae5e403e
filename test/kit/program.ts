/** Programs of this repository, as a person runs them with `npm run`. */
import { execFile } from 'node:child_process'

/**
 * What every program needs of this one's environment; with the cache, compiling hundreds of files is done once, and its
 * files lie where those of the tests do.
 */
export function basics(): Record<string, string> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE, TMPDIR } = process.env
  return {
    ...{ PATH, HOME },
    ...(NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}),
    ...(TMPDIR ? { TMPDIR } : {}),
  }
}

/** What such a program finds that the run of the tests has made. */
const OF_THE_RUN = /^KEYWAY_TESTS_/

/** Runs a file to its end, and answers all that it printed: that tells what was wrong. */
export function runProgram(
  file: string,
  env: Record<string, string>,
  ...args: string[]
): Promise<string> {
  const ofTheRun = Object.entries(process.env).filter(([name]) => OF_THE_RUN.test(name))
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--no-warnings', file, ...args],
      { env: { ...basics(), ...Object.fromEntries(ofTheRun), ...env } },
      (_error, out, errors) => resolve(out + errors),
    )
  })
}
