/**
 * Throughput, latency and CPU time of all contenders under the same load, round by round: a short disturbance
 * of the machine affects all of them, and ratios are calculated within a round.
 */
import { type ContenderName, type Field, NAMES, startField } from '../contenders/contenders.ts'
import { workerdVersion } from '../contenders/workerd.ts'
import {
  above,
  atLeast,
  type Findings,
  type Goal,
  type Judged,
  judge,
  spreadText,
  unmeasured,
} from '../findings.ts'
import { closedLoad, type Figures } from '../load/loads.ts'
import { withCpu } from '../processes.ts'
import { bar } from '../report.ts'
import type { Part, Run } from '../run.ts'
import { median, ratios, type Spread, spreadOf } from '../statistics.ts'
import {
  compareAnswers,
  LIST,
  targetOf,
  WORKLOADS,
  type Workload,
  WRITE_ONE,
} from '../workloads.ts'

const CALLERS = [1, 32]
/** The number of callers at which throughput is compared. */
const MANY = 32
const WARM_SECONDS = 1

type Measured = Figures & { cpuMs: number }
/** A workload with a number of callers: the rounds of each contender. */
type Row = { workload: Workload; callers: number; rounds: Map<ContenderName, Measured[]> }

const GOALS: readonly [workload: Workload, against: ContenderName, goal: Goal][] = [
  [LIST, 'B', atLeast(0.95)],
  [LIST, 'BS', atLeast(0.75)],
  [WRITE_ONE, 'B', atLeast(0.7)],
  [WRITE_ONE, 'BS', atLeast(0.65)],
  [LIST, 'workerd', atLeast(0.9)],
  [WRITE_ONE, 'workerd', above(1)],
]

export const SPEED: Part = {
  title: 'Throughput',
  length: ({ rounds, seconds }) => `${rounds} rounds of ${seconds} s each`,
  async measure(run) {
    const field = await startField(run, NAMES)
    try {
      const rows: Row[] = []
      for (const workload of WORKLOADS) {
        await compareAnswers(field.contenders, workload)
        await warm(run, field, workload)
        for (const callers of CALLERS) rows.push(await measureRow(run, field, workload, callers))
      }
      return findings(rows, field)
    } finally {
      await field.stop()
    }
  },
}

async function warm({ signal }: Run, { contenders }: Field, workload: Workload): Promise<void> {
  for (const { url } of contenders)
    await closedLoad(
      { url, targets: [targetOf(workload)], callers: MANY, seconds: WARM_SECONDS },
      signal,
    )
}

async function measureRow(
  { rounds: count, seconds, signal, tell }: Run,
  { contenders }: Field,
  workload: Workload,
  callers: number,
): Promise<Row> {
  const rounds: Row['rounds'] = new Map(contenders.map(({ name }) => [name, []]))
  for (let round = 0; round < count; round += 1) {
    // The order rotates, so that no contender always follows the same one.
    for (let turn = 0; turn < contenders.length; turn += 1) {
      const contender = contenders[(turn + round) % contenders.length] as (typeof contenders)[0]
      const { name, url } = contender
      tell(`${workload.name}, ${callers} callers, round ${round + 1} of ${count}: ${name}`)
      const load = { url, targets: [targetOf(workload)], callers, seconds }
      const { result, cpuMs } = await withCpu(contender, () => closedLoad(load, signal))
      rounds.get(name)?.push({ ...result, cpuMs })
    }
  }
  return { workload, callers, rounds }
}

function ratio(
  { rounds }: Row,
  of: ContenderName,
  to: ContenderName,
  figure: (one: Measured) => number = perSecond,
): Spread | null {
  const [figures, others] = [rounds.get(of), rounds.get(to)]
  if (!figures || !others) return null
  return spreadOf(ratios(figures.map(figure), others.map(figure)))
}
const perSecond = (one: Figures): number => one.perSecond
/** Processor time per call, in microseconds. */
const cpuUs = ({ cpuMs, sent }: Measured): number => (cpuMs * 1000) / sent

async function findings(rows: readonly Row[], { missing }: Field): Promise<Findings> {
  const version = await workerdVersion()
  return {
    judged: GOALS.map((goal) => judged(rows, missing, goal)),
    tables: [
      {
        title:
          'Medians of the rounds; ratios of calls per second, made round by round (smallest–largest)',
        columns: [
          'workload',
          'callers',
          'contender',
          'calls/s',
          'p50 ms',
          'p99 ms',
          'failed',
          'CPU µs/call',
          'CPU against B',
          'against B',
          'against BS',
          '',
        ],
        rows: rows.flatMap((row) => [
          ...[...row.rounds].map(([name, rounds]) => cells(row, name, rounds)),
          ...missing.map(({ name, why }) => [
            row.workload.name,
            String(row.callers),
            name,
            `not measured: ${why}`,
          ]),
        ]),
      },
    ],
    notes: [
      'B is the same Hono server answering the same bytes from a plain function with valibot on request and reply, without a sandbox; BS is B with the generated writers on the reply. Keyway is the whole host with its database, its log going nowhere. CPU time is that of all processes of a contender, database and workers included; against B it is made round by round too, and hardly moves with what else the machine does.',
      `workerd ${version} runs the same validation as a plain Worker, bundled by esbuild. It is no dependency: each run fetches it from npm, pinned by version and digest.`,
    ],
  }
}

function judged(
  rows: readonly Row[],
  missing: Field['missing'],
  [workload, against, goal]: (typeof GOALS)[number],
): Judged {
  const what = `${workload.name}, ${MANY} callers: Keyway against ${against}`
  const row = rows.find((one) => one.workload === workload && one.callers === MANY)
  const spread = row && ratio(row, 'Keyway', against)
  if (spread) return judge(what, spread, goal)
  return unmeasured(
    what,
    missing.find(({ name }) => name === against)?.why ?? 'it did not run',
    goal,
  )
}

function cells(row: Row, name: ContenderName, rounds: readonly Measured[]): string[] {
  const middle = (value: (one: Measured) => number, digits: number) =>
    median(rounds.map(value)).toFixed(digits)
  const [toB, toBs] = [ratio(row, name, 'B'), ratio(row, name, 'BS')]
  const cpuToB = ratio(row, name, 'B', cpuUs)
  return [
    row.workload.name,
    String(row.callers),
    name,
    middle(perSecond, 0),
    middle(({ p50 }) => p50, 3),
    middle(({ p99 }) => p99, 3),
    String(rounds.reduce((sum, { failed }) => sum + failed, 0)),
    middle(cpuUs, 0),
    cpuToB ? spreadText(cpuToB) : '',
    toB ? spreadText(toB) : '',
    toBs ? spreadText(toBs) : '',
    toB ? bar(toB.median) : '',
  ]
}
