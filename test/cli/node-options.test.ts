/** The options that the command passes to Node. */
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { expect, test } from 'vitest'

const ROOT = path.join(import.meta.dirname, '..', '..')
const run = (args: string[], env: NodeJS.ProcessEnv = process.env): string =>
  execFileSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8' }).trim()

/** The options of Node that the real command is run with. */
function optionsOfCommand(): string[] {
  // Printed by the process that runs the command, not by the launcher.
  const tell = `if (!process.argv[1].endsWith('keyway.mjs')) {
    console.log(JSON.stringify(process.execArgv))
    process.exit()
  }`
  const env = {
    ...process.env,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(tell)}`,
  }
  return JSON.parse(run([path.join('runtime', 'cli', 'keyway.mjs')], env))
}

/** Counts Node's built-in modules that are compiled without Node's code cache. */
const COUNT_RECOMPILED = `
const { internalBinding } = require('internal/test/binding')
require('node:http')
console.log(internalBinding('builtins').getCacheUsage().compiledWithoutCache.size)`
const countRecompiled = (options: string[]): number =>
  Number(run([...options, '--expose-internals', '--no-warnings', '-e', COUNT_RECOMPILED]))

test('the options of the command keep the code cache of Node, which other options invalidate', () => {
  const options = optionsOfCommand()
  expect(options).toContain('--max-semi-space-size=8')
  expect(countRecompiled(options)).toBe(0)
  expect(countRecompiled(['--heap-growing-percent=100'])).toBeGreaterThan(0)
})
