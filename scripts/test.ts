/**
 * `npm test`: everything that must hold, one named step per promise. Arguments are passed to vitest, and only
 * vitest runs then: `npm test -- test/egress`. `--checks` and `--tests` run one half each. The checks need
 * nothing that a machine may still be installing (.ci/run).
 */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { filesToTryAgain } from './failed-files.ts'

const ROOT = path.join(import.meta.dirname, '..')

type Step = readonly [name: string, command: string, ...args: string[]]

/** State of the last type check. Only later changes are checked again. */
const TYPES_KNOWN = path.join(ROOT, 'node_modules', '.cache', 'tsc.buildinfo')

/** One checker: each further one would check the libraries again, and the other core runs the next step. */
const TYPES = [
  ...'-p tsconfig.json --checkers 1 --incremental --tsBuildInfoFile'.split(' '),
  TYPES_KNOWN,
]

/** Steps that need one core and wait for nothing. They run at the same time. */
const CHECKS: readonly Step[] = [
  ['types', 'tsc', ...TYPES],
  ['lint and format', 'biome', 'check', '--error-on-warnings', '.'],
  ['generated pages are fresh', 'node', 'scripts/docs.ts', '--check'],
]
const TESTS: Step = ['tests', 'vitest', 'run', '--config', 'test/vitest.config.ts']

type Ended = { status: number; output: string; seconds: number }

/** Runs a step to its end. If `shown`, its output is printed at once and is not part of the result. */
function run([, command, ...args]: Step, shown: boolean): Promise<Ended> {
  const beganMs = performance.now()
  const child = spawn(command, args, { cwd: ROOT, stdio: shown ? 'inherit' : 'pipe' })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8')
    })
  return new Promise((resolve) => {
    const end = (status: number) =>
      resolve({ status, output, seconds: (performance.now() - beganMs) / 1000 })
    child.on('error', (error) => {
      output += error.message
      end(1)
    })
    child.on('close', (status) => end(status ?? 1))
  })
}

/** Prints the name and the result of a step. Ends this process if the step failed. */
async function report(step: Step, ending: Promise<Ended>): Promise<void> {
  console.log(`\n— ${step[0]}`)
  conclude(step, await ending)
}

/** Prints the result of a step. Ends this process if the step failed. */
function conclude([name, ...command]: Step, { status, output, seconds }: Ended): void {
  process.stdout.write(output)
  if (status !== 0) {
    console.error(`\n${name}: failed (${command.join(' ')})`)
    process.exit(status)
  }
  console.log(`  ${seconds.toFixed(1)} s`)
}

/** Folder in memory, on Linux, and the free space in it that the tests require, in bytes. */
const SHARED_MEMORY = '/dev/shm'
const ROOM_BYTES = 8 * 2 ** 30

/**
 * Puts the files of the tests, above all databases, into memory if there is enough: creating and removing
 * files takes a twentieth to a tenth of a run. Does not replace an operator's TMPDIR.
 */
function useMemory(): void {
  if (process.env['TMPDIR'] !== undefined || !existsSync(SHARED_MEMORY)) return
  const { bavail, bsize } = statfsSync(SHARED_MEMORY)
  if (bavail * bsize < ROOM_BYTES) return
  const folder = mkdtempSync(path.join(SHARED_MEMORY, 'keyway-tests-'))
  // Like /tmp, because servers that may not run as root also write there.
  chmodSync(folder, 0o1777)
  process.env['TMPDIR'] = folder
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
}

/** Maximum number of failed files that are run again alone. More are a failure at once. */
const MAX_RERUNS = 8

/** Runs all tests. Files that fail next to others are run again by themselves, and that decides. */
async function runAll(): Promise<void> {
  console.log('\n— tests')
  const folder = mkdtempSync(path.join(tmpdir(), 'keyway-report-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'report.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const ended = await run([...TESTS, ...reporters], true)
  const again =
    ended.status !== 0 && existsSync(file)
      ? filesToTryAgain(JSON.parse(readFileSync(file, 'utf8')), ROOT, MAX_RERUNS)
      : []
  if (again.length === 0) return conclude(TESTS, ended)
  console.log(`\nFailed beside others, and run again alone: ${again.join(', ')}`)
  const alone: Step = [...TESTS, '--maxWorkers=1', ...again]
  await report(alone, run(alone, true))
  console.log(`\nPassed alone only: ${again.join(', ')}`)
}

async function runChecks(): Promise<void> {
  const checks = CHECKS.map((step) => ({ step, ending: run(step, false) }))
  for (const { step, ending } of checks) await report(step, ending)
}

const given = process.argv.slice(2)
const half = given.length === 1 ? given[0] : undefined
useMemory()
if (given.length === 0 || half === '--checks') await runChecks()
if (given.length === 0 || half === '--tests') await runAll()
else if (half !== '--checks') {
  const tests: Step = [...TESTS, ...given]
  await report(tests, run(tests, true))
}
