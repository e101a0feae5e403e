/**
 * `npm run soak`: half an hour of mixed traffic of 200 tenants, 5 % of it hostile. The variables `SECONDS`,
 * `RATE` (calls per second), `TENANTS` and `LATE_MS` change this. `--lists` requests 100,000 lists of 100
 * accounts by 32 callers instead; `CALLS` changes the number. Exits with 1 if something is wrong.
 */
import { parseArgs } from 'node:util'
import { progressLine } from '../../runtime/cli/terminal/progress.ts'
import { lists } from './lists.ts'
import { type SoakReport, soak } from './run.ts'

const number = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise)
const inMb = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`

const TELL_EVERY_MS = 60_000
let toldMs = performance.now()
const line = progressLine()
const { values } = parseArgs({ options: { lists: { type: 'boolean', default: false } } })
const findings = await (values.lists ? runLists() : runSoak())
for (const finding of findings) console.log(`WRONG ${finding}`)
console.log(findings.length === 0 ? 'nothing is wrong' : `${findings.length} findings`)
process.exitCode = findings.length === 0 ? 0 : 1

/** Shows progress: at once on a terminal, otherwise once a minute for a log. */
function tell(text: string): void {
  line.show(text)
  if (process.stderr.isTTY || performance.now() - toldMs < TELL_EVERY_MS) return
  toldMs = performance.now()
  console.log(text)
}

async function runSoak(): Promise<string[]> {
  const seconds = number('SECONDS', 1800)
  const beganMs = performance.now()
  const report = await soak({
    seconds,
    rate: number('RATE', 20),
    tenants: number('TENANTS', 200),
    maxLateMs: number('LATE_MS', 100),
    onProgress: (text) =>
      tell(`${Math.round((performance.now() - beganMs) / 1000)}/${seconds} s: ${text}`),
  })
  line.clear()
  print(report)
  return report.findings
}

function print({ kinds, before, after, workerEnds, ...report }: SoakReport): void {
  console.log('kind         calls     p50 ms    p99 ms   latest after its deadline')
  for (const { name, calls, p50Ms, p99Ms, latestMs } of kinds)
    console.log(
      [
        name.padEnd(9),
        String(calls).padStart(8),
        p50Ms.toFixed(1).padStart(10),
        p99Ms.toFixed(1).padStart(9),
        `   ${latestMs > 0 ? `${latestMs.toFixed(0)} ms` : 'in time'}`,
      ].join(' '),
    )
  console.log(`
the host, at rest           before      after
memory in use           ${inMb(before.usedBytes).padStart(10)} ${inMb(after.usedBytes).padStart(10)}
descriptors             ${String(before.descriptors).padStart(10)} ${String(after.descriptors).padStart(10)}
workers                 ${String(before.workers).padStart(10)} ${String(after.workers).padStart(10)}
resident, under load    ${inMb(report.residentEarly).padStart(10)} ${inMb(report.residentLate).padStart(10)}
worker processes that ended: ${workerEnds}
`)
}

async function runLists(): Promise<string[]> {
  const { calls, tookMs, isolates, grownBytes, findings } = await lists({
    calls: number('CALLS', 100_000),
    callers: 32,
    onProgress: (done) => tell(`${done} lists`),
  })
  line.clear()
  console.log(
    `${calls} lists of 100 accounts by 32 callers in ${Math.round(tookMs / 1000)} s: ${isolates} isolates, host and worker grew by ${inMb(grownBytes)}`,
  )
  return findings
}
