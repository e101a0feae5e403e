/**
 * `npm run bench:sync`: syncs a million accounts with three million associations from a generated upstream,
 * compares the rate with the database's own bulk load of the same rows, and measures memory; then the same
 * with a host that is killed ten times. `ACCOUNTS` and `KILLS` in the environment change the size; only a
 * full run is written into RESULTS.md. Exits with 1 if the result differs from the upstream.
 */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Client } from 'pg'
import { progressLine } from '../../runtime/cli/terminal/progress.ts'
import { stopCommands } from '../e2e/command.ts'
import { loadWords, machineWords } from './machine.ts'
import { place, sectionText } from './report.ts'
import { median } from './statistics.ts'
import { runSync, type SyncReport, type Taken } from './sync-run.ts'
import { ENTITLEMENTS, HELD } from './sync-upstream.ts'

const ACCOUNTS = Number(process.env['ACCOUNTS'] ?? 1_000_000)
const KILLS = Number(process.env['KILLS'] ?? 10)
const WHOLE = ACCOUNTS === 1_000_000 && KILLS === 10
const RESULTS = path.join(import.meta.dirname, 'RESULTS.md')

let copyMs = 0

/** The same rows into empty tables with the same indexes, from a file, by COPY. */
async function timeCopy(client: Client): Promise<void> {
  const file = (table: string) => path.join(tmpdir(), `keyway-bench-${process.pid}-${table}`)
  for (const table of ['accounts', 'associations']) {
    await client.query(`copy (select * from ${table}) to '${file(table)}'`)
    const { rows } = await client.query(
      `select string_agg(quote_ident(attname), ', ' order by attnum) as columns from pg_attribute
       where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped`,
    )
    await client.query(`create table copy_of_${table} (like ${table} including all)`)
    const beganMs = performance.now()
    await client.query(`copy copy_of_${table} (${rows[0].columns}) from '${file(table)}'`)
    copyMs += performance.now() - beganMs
    await rm(file(table))
  }
}

const ROWS = ACCOUNTS * (1 + HELD)
const rate = (ms: number): string => `${Math.round(ROWS / (ms / 1000)).toLocaleString('en')} rows/s`
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
const mb = (value: number): string => `${Math.round(value)} MB`

function words(name: string, { tookMs, peak, wrong, counts }: SyncReport): string {
  return `${name}: ${seconds(tookMs)}, ${rate(tookMs)}, at most ${mb(peak.hostMb)} host and ${mb(peak.workersMb)} workers, ${counts['pages']} pages; ${wrong.length === 0 ? 'exact' : wrong.join('; ')}`
}

function ratio(ms: number): string {
  return (copyMs / ms).toFixed(2)
}

const WHO = ['host', 'workers', 'database', 'upstream'] as const

function rowOf(what: string, taken: Taken | null): string[] {
  if (taken === null) throw new Error('the run without kills has no measurements')
  const us = WHO.map((who) => taken.cpu[who] / ROWS)
  const all = us.reduce((sum, one) => sum + one, 0)
  return [what, seconds(taken.tookMs), ...[...us, all].map((one) => one.toFixed(1))]
}

const line = progressLine()
const load = loadWords()
const onProgress = (text: string) => line.show(text)

const whole = await runSync({ accounts: ACCOUNTS, kills: 0, onProgress, look: timeCopy })
console.log(words('without a kill', whole))
const killed = await runSync({ accounts: ACCOUNTS, kills: KILLS, onProgress })
line.clear()
console.log(words(`killed ${killed.kills} times`, killed))
await stopCommands()

const exact = (report: SyncReport) => ({
  figure: report.wrong.length === 0 ? 'exact' : report.wrong.join('; '),
  goal: 'exactly what the upstream has',
  met: report.wrong.length === 0,
})
/** The garbage collector makes a host's memory fluctuate, so single samples are not meaningful. */
function memoryBetween(from: number, to: number): number {
  const { memoryMb } = whole
  return median(memoryMb.slice(Math.floor(from * memoryMb.length), Math.ceil(to * memoryMb.length)))
}
const growth = memoryBetween(0.75, 1) - memoryBetween(0.25, 0.5)
const tenths = Array.from({ length: 10 }, (_, n) => memoryBetween(n / 10, (n + 1) / 10))
const section = {
  part: 'sync',
  title: 'Sync of an app',
  setting: `${ACCOUNTS.toLocaleString('en')} accounts, ${(ACCOUNTS * HELD).toLocaleString('en')} associations and ${ENTITLEMENTS.toLocaleString('en')} entitlements of a generated upstream, pages of 1,000. ${machineWords()}; load before: ${load}. The upstream, the host, its worker and the database share the machine.`,
  findings: {
    judged: [
      {
        what: 'sync, of the rate of COPY of the same rows',
        figure: ratio(whole.tookMs),
        goal: '≥ 0.35',
        met: copyMs / whole.tookMs >= 0.35,
      },
      { what: 'sync without a kill', ...exact(whole) },
      { what: `sync of a host that is killed ${killed.kills} times`, ...exact(killed) },
      {
        what: 'memory of host and workers, median of the second quarter to that of the last',
        figure: `${growth >= 0 ? '+' : ''}${mb(growth)}`,
        goal: 'flat: less than 50 MB more',
        met: growth < 50,
      },
    ],
    tables: [
      {
        title: 'Time',
        columns: ['what', 'took', 'rate', 'of COPY'],
        rows: [
          ['sync', seconds(whole.tookMs), rate(whole.tookMs), ratio(whole.tookMs)],
          [
            `sync, killed ${killed.kills} times`,
            seconds(killed.tookMs),
            rate(killed.tookMs),
            ratio(killed.tookMs),
          ],
          [
            'COPY of the same rows into tables with the same indexes',
            seconds(copyMs),
            rate(copyMs),
            '1.00',
          ],
        ],
      },
      {
        title: 'Processor time in microseconds of each row, which a busy machine changes less',
        columns: ['what', 'took', ...WHO, 'all'],
        rows: [
          rowOf('sync', whole.first),
          rowOf('another, which finds everything as it was', whole.again),
        ],
      },
      {
        title:
          'Memory of the host and its workers through the run without a kill, medians of its tenths',
        columns: tenths.map((_, n) => `${n + 1}.`),
        rows: [tenths.map(mb)],
      },
    ],
    notes: [
      `At most ${mb(whole.peak.hostMb)} of the host and ${mb(whole.peak.workersMb)} of ${whole.peak.workers} workers. A killed host is missed for up to 25 s: its lease (15 s) and its job have to end first.`,
    ],
  },
}

console.log(sectionText(section as never))
if (WHOLE) await writeFile(RESULTS, place(await readFile(RESULTS, 'utf8'), section as never))
process.exitCode = whole.wrong.length + killed.wrong.length === 0 ? 0 : 1
