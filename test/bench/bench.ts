/**
 * `npm run bench`: measures the cost and the stability of Keyway and of its contenders in one interleaved
 * run, and reports medians. The ratios matter; absolute figures depend on the machine. Writes RESULTS.md in
 * this folder: it replaces each measured part and leaves hand-written text unchanged.
 *
 * In the environment: `ROUNDS` (5), `SECONDS` (3), `CALLS` (20000) and `SIZES` (0,100,1000: numbers of
 * installed connectors) make it longer or shorter; `ONLY` lists the parts to measure, separated by commas.
 */
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { loadWords, machineWords } from './machine.ts'
import { COLD } from './parts/cold.ts'
import { INSTALLED } from './parts/installed.ts'
import { MANY_CALLS } from './parts/many-calls.ts'
import { NEIGHBOURS } from './parts/neighbours.ts'
import { ONE_CALLER } from './parts/one-caller.ts'
import { SPEED } from './parts/speed.ts'
import { place, type Section, sectionText, summary } from './report.ts'
import type { Part, Run } from './run.ts'

/** The parts in the order of the report. */
const PARTS: Record<string, Part> = {
  speed: SPEED,
  'one-caller': ONE_CALLER,
  cold: COLD,
  installed: INSTALLED,
  'many-calls': MANY_CALLS,
  neighbours: NEIGHBOURS,
}

const RESULTS = path.join(import.meta.dirname, 'RESULTS.md')

const {
  ROUNDS = '5',
  SECONDS = '3',
  CALLS = '20000',
  SIZES = '0,100,1000',
  ONLY = '',
} = process.env
const names = ONLY === '' ? Object.keys(PARTS) : ONLY.split(',')
const unknown = names.find((name) => !Object.hasOwn(PARTS, name))
if (unknown !== undefined)
  throw new Error(`ONLY: there is no part ${unknown}; parts: ${Object.keys(PARTS).join(', ')}`)

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => stopping.abort(new Error(`stopped by ${signal}`)))

const run: Run = {
  rounds: Number(ROUNDS),
  seconds: Number(SECONDS),
  calls: Number(CALLS),
  sizes: SIZES.split(',').map(Number),
  home: await realpath(await mkdtemp(path.join(tmpdir(), 'keyway-bench-'))),
  signal: stopping.signal,
  tell: process.stderr.isTTY
    ? (text) => void process.stderr.write(`\r\u001b[K${text}`)
    : () => undefined,
}

async function measure(part: string): Promise<Section> {
  const { title, length, measure: findingsOf } = PARTS[part] as Part
  const before = loadWords()
  const findings = await findingsOf(run)
  run.tell('')
  const day = new Date().toISOString().slice(0, 10)
  const setting = `${day}; ${machineWords()}; load ${before} at the beginning, ${loadWords()} at the end; ${length(run)}.`
  return { part, title, setting, findings }
}

const sections: Section[] = []
try {
  for (const name of names) {
    const section = await measure(name)
    sections.push(section)
    console.log(`${sectionText(section)}\n`)
    // Written at once, so that the results remain if a later part fails.
    await writeFile(RESULTS, place(await readFile(RESULTS, 'utf8'), section))
  }
  console.log(summary(sections))
} catch (error) {
  if (!stopping.signal.aborted) throw error
  console.error('stopped; what was measured is written')
  process.exitCode = 130
} finally {
  await rm(run.home, { recursive: true, force: true })
}
