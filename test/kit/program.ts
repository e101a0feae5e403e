/** Runs programs of this repository as a person does with `npm run`. */
import { execFile } from 'node:child_process'

/**
 * Returns the environment that every program needs. The cache saves compiling hundreds of files again, and
 * TMPDIR puts its files next to those of the tests.
 */
export function basics(): Record<string, string> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE, TMPDIR } = process.env
  return {
    ...{ PATH, HOME },
    ...(NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}),
    ...(TMPDIR ? { TMPDIR } : {}),
  }
}

/** Names of variables for results of the test run. */
const OF_THE_RUN = /^KEYWAY_TESTS_/

/** Runs a file to its end. Returns all its output, which shows what was wrong. */
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
