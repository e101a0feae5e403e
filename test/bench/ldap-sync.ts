/**
 * `npm run bench:ldap-sync`: syncs 100,000 people with 300,000 memberships from an OpenLDAP. Compares the
 * rate with that of ldapts alone, which only reads them (the median of three times), and measures memory.
 * Then reads the same by calls of the connector, which write nothing. `PEOPLE` in the environment sets the
 * number of people; only a full run is written into RESULTS.md. Exits with 1 if the result differs from the
 * directory.
 */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { entriesOf } from '../../runtime/contract/schema/keys.ts'
import { stopCommands } from '../e2e/command.ts'
import { noDirectory } from '../egress/ldap/directory.ts'
import { HELD, runLdapSync, type Way } from './ldap-sync-run.ts'
import { loadWords, machineWords } from './machine.ts'
import { place, sectionText } from './report.ts'
import { median } from './statistics.ts'

const WHOLE = 100_000
const people = Number(process.env['PEOPLE'] ?? WHOLE)
const RESULTS = path.join(import.meta.dirname, 'RESULTS.md')
const GOAL_SHARE = 0.5
const GOAL_GROWTH_MB = 50

if (noDirectory !== null) throw new Error(`There is no OpenLDAP here: ${noDirectory}`)
const before = loadWords()
const { sync, calls, client: readings, memoryMb, wrong } = await runLdapSync(people)
await stopCommands()

/** The reading with the median time. */
const [, client] = readings.toSorted((a, b) => a.tookMs - b.tookMs)
if (client === undefined) throw new Error('the run of ldapts has no readings')
const rows = people * (1 + HELD)
const rate = (ms: number) => `${Math.round(rows / (ms / 1000)).toLocaleString('en')} rows/s`
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
const between = (from: number, to: number) =>
  median(memoryMb.slice(Math.floor(from * memoryMb.length), Math.ceil(to * memoryMb.length)))
const growth = between(0.75, 1) - between(0.25, 0.5)
const shareOf = ({ tookMs }: Way) => client.tookMs / tookMs
const share = shareOf(sync)
const WHO = ['host', 'workers', 'database', 'directory', 'client'] as const
const rowOf = (what: string, way: Way): string[] => [
  ...[what, seconds(way.tookMs), rate(way.tookMs), shareOf(way).toFixed(2)],
  ...WHO.map((who) => (way.cpu[who] / rows).toFixed(1)),
  (entriesOf(way.cpu).reduce((sum, [, us]) => sum + us, 0) / rows).toFixed(1),
]
const section = {
  part: 'ldap-sync',
  title: 'Sync of a directory',
  setting: `${people.toLocaleString('en')} people and ${(people * HELD).toLocaleString('en')} memberships of an OpenLDAP, pages of 1,000. ${machineWords()}; load before: ${before}, after: ${loadWords()}. The directory, the host, its worker and the database share the machine. Up to 500 requests a second, as the connector asks for. Not in it: when people signed in last, which is asked at the connector's pace.`,
  findings: {
    judged: [
      {
        what: 'what is there in the end',
        figure: wrong.length === 0 ? 'exact' : wrong.join('; '),
        goal: 'exactly what the directory has',
        met: wrong.length === 0,
      },
      {
        what: 'rate of the sync, which also writes, to that of ldapts alone, which only reads',
        figure: share.toFixed(2),
        goal: `at least ${GOAL_SHARE}`,
        met: share >= GOAL_SHARE,
      },
      {
        what: 'rate of reading through the host and its sandbox, without the database, to that of ldapts alone',
        figure: shareOf(calls).toFixed(2),
        goal: `at least ${GOAL_SHARE}`,
        met: shareOf(calls) >= GOAL_SHARE,
      },
      {
        what: 'memory of host and workers, median of the second quarter to that of the last',
        figure: `${growth >= 0 ? '+' : ''}${Math.round(growth)} MB`,
        goal: `flat: less than ${GOAL_GROWTH_MB} MB more`,
        met: growth < GOAL_GROWTH_MB,
      },
    ],
    tables: [
      {
        title: `Time, and processor time in microseconds of each of the ${rows.toLocaleString('en')} rows, which a busy machine changes less`,
        columns: ['what', 'took', 'rate', 'of ldapts', ...WHO, 'all'],
        rows: [
          rowOf('ldapts alone, which only reads', client),
          rowOf('every page by a call of the connector: no database', calls),
          rowOf('sync, which also writes', sync),
        ],
      },
    ],
    notes: [
      `ldapts alone took ${readings.map(({ tookMs }) => seconds(tookMs)).join(', ')}, each in a process of its own; compared is the median.`,
      `At most ${Math.round(Math.max(0, ...memoryMb))} MB of host and workers.`,
    ],
  },
}

console.log(sectionText(section))
if (people === WHOLE) await writeFile(RESULTS, place(await readFile(RESULTS, 'utf8'), section))
process.exitCode = wrong.length === 0 ? 0 : 1
