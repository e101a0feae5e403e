/** `keyway verify`: attacks a host on this machine with the corpus of hostile connectors. */

import path from 'node:path'
import { ConfigError } from '../config/config.ts'
import { exitOnSignal } from '../temporary-folder.ts'
import { FAMILIES } from '../verify/attacks/attack.ts'
import { crowdedWords } from '../verify/processor-share.ts'
import { type AttackOutcome, type Report, verify as run, select } from '../verify/verify.ts'
import { terminalJson } from './terminal/json.ts'

type VerifyArguments = { json?: true; family?: string; only?: string }

/** File of the host in a command that is bundled to one program (scripts/bundle.ts). */
declare const BUILT_VERIFY_HOST: string | undefined

/** Host process that is attacked. In other cases its source, with the extension of this file. */
export const HOST_ENTRY: string =
  typeof BUILT_VERIFY_HOST === 'undefined'
    ? path.join(import.meta.dirname, `verify-host${path.extname(import.meta.filename)}`)
    : BUILT_VERIFY_HOST

export async function verify({ json, family, only }: VerifyArguments): Promise<void> {
  const selected = select(family, only)
  if (selected === null)
    throw new ConfigError(
      `there is no such attack; the families are ${Object.keys(FAMILIES).join(', ')}, their attacks are listed in test/hostile/README.md`,
    )
  exitOnSignal()
  const report = await run({
    entry: HOST_ENTRY,
    selected,
    onBegin: (done, all, attack) => json || showProgress(done, all, attack),
    onOutcome: (outcome) => json || print(outcome),
  })
  if (json) console.log(terminalJson(report))
  else printEnd(report)
  if (!isContained(report, selected.length)) process.exitCode = 1
}

const isContained = ({ outcomes }: Report, wanted: number): boolean =>
  outcomes.length === wanted && outcomes.every(({ findings }) => findings.length === 0)

const BAR_WIDTH = 30
const CLEAR = '\r\u001b[2K'

function showProgress(done: number, all: number, attack: string): void {
  if (!process.stderr.isTTY) return
  const filled = Math.round((done / all) * BAR_WIDTH)
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
  process.stderr.write(`${CLEAR}${bar} ${done}/${all} ${attack}`)
}

const COLUMNS: readonly [title: string, width: number, of: (outcome: AttackOutcome) => string][] = [
  ['attack', 32, ({ attack }) => attack],
  ['contained how', 42, ({ contained }) => contained],
  ['errors of neighbours', 20, ({ neighbourErrors }) => `${neighbourErrors}`],
  ['their p99', 10, ({ neighbourP99Ms }) => `${neighbourP99Ms.toFixed(1)} ms`],
  ['recovery', 10, ({ recoveryMs }) => (recoveryMs === null ? '-' : `${recoveryMs.toFixed(0)} ms`)],
]

let lastFamily = ''

function print(outcome: AttackOutcome): void {
  if (process.stderr.isTTY) process.stderr.write(CLEAR)
  const { family, findings } = outcome
  if (family !== lastFamily) {
    console.log(`\n${family}: ${FAMILIES[family]}`)
    console.log(
      `     ${COLUMNS.map(([title, width]) => title.padEnd(width))
        .join('  ')
        .trimEnd()}`,
    )
    lastFamily = family
  }
  const cells = COLUMNS.map(([, width, of]) => of(outcome).padEnd(width))
  console.log(`${findings.length === 0 ? 'ok  ' : 'FAIL'} ${cells.join('  ')}`.trimEnd())
  for (const finding of findings) console.log(`       ${finding.replaceAll('\n', '\n       ')}`)
}

function printEnd({ containment, outcomes, hostGrowthBytes, tookMs, ...quiet }: Report): void {
  const failed = outcomes.filter(({ findings }) => findings.length > 0)
  const { level, layers, missing } = containment
  console.log(`
containment: ${level} (${layers.join(', ')})`)
  for (const { name, stops } of missing)
    console.log(`  missing here: ${name}, which stops ${stops}`)
  console.log(`neighbours' p99 without an attack: ${quiet.quietP99Ms.toFixed(1)} ms (/healthz ${quiet.quietHealthP99Ms.toFixed(1)} ms; this process itself stalled for up to ${quiet.quietOwnStallMs.toFixed(1)} ms)
memory retained by the host: ${Math.round(hostGrowthBytes / 1024 / 1024)} MiB
${outcomes.length - failed.length} of ${outcomes.length} attacks contained in ${Math.round(tookMs / 1000)} s`)
  const crowded = crowdedWords(outcomes)
  if (crowded !== null) console.log(crowded)
  if (failed.length > 0)
    console.log(`not contained: ${failed.map(({ attack }) => attack).join(', ')}
Run one again with keyway verify --only NAME; if it fails again, please report it.`)
}
