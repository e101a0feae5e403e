/** The latency of a single caller: how much Keyway adds to that of B, and how long the slowest calls take. */
import { type Contender, startField } from '../contenders/contenders.ts'
import { atMost, below, type Findings, type Goal, judge, spreadText } from '../findings.ts'
import { closedLoad, type Figures } from '../load/loads.ts'
import type { Part, Run } from '../run.ts'
import { differences, ratios, spreadOf } from '../statistics.ts'
import { LIST, targetOf, WORKLOADS, type Workload, WRITE_ONE } from '../workloads.ts'

type Row = { workload: Workload; b: Figures[]; keyway: Figures[] }

/** The allowed additional time of a warm call compared with B, at the median. */
const ADDED: ReadonlyMap<Workload, Goal> = new Map([
  [LIST, below(0.15, 'ms')],
  [WRITE_ONE, below(0.08, 'ms')],
])
const TAIL = atMost(3)

export const ONE_CALLER: Part = {
  title: 'One caller',
  length: ({ rounds, calls }) => `${rounds} rounds of ${calls} calls each`,
  async measure(run) {
    const field = await startField(run, ['B', 'Keyway'])
    try {
      const [b, keyway] = field.contenders as [Contender, Contender]
      const rows: Row[] = []
      for (const workload of WORKLOADS) rows.push(await measureRow(run, b, keyway, workload))
      return findings(run, rows)
    } finally {
      await field.stop()
    }
  },
}

async function measureRow(
  { rounds, calls, signal, tell }: Run,
  b: Contender,
  keyway: Contender,
  workload: Workload,
): Promise<Row> {
  const row: Row = { workload, b: [], keyway: [] }
  const targets = [targetOf(workload)]
  const load = ({ url }: Contender) => closedLoad({ url, targets, callers: 1, calls }, signal)
  for (let round = 0; round < rounds; round += 1) {
    tell(`${workload.name}, one caller, round ${round + 1} of ${rounds}`)
    row.b.push(await load(b))
    row.keyway.push(await load(keyway))
  }
  return row
}

function findings({ calls }: Run, rows: readonly Row[]): Findings {
  return {
    judged: rows.flatMap(({ workload, b, keyway }) => [
      judge(
        `${workload.name}: added to B's p50`,
        spreadOf(differences(keyway.map(p50), b.map(p50))),
        ADDED.get(workload) as Goal,
        3,
        'ms',
      ),
      judge(
        `${workload.name}: p99 over ${calls} calls, as multiple of B's`,
        spreadOf(ratios(keyway.map(p99), b.map(p99))),
        TAIL,
      ),
    ]),
    tables: [
      {
        title: 'Latency in milliseconds',
        columns: ['workload', 'contender', 'p50', 'p99', 'failed'],
        rows: rows.flatMap(({ workload, b, keyway }) =>
          Object.entries({ B: b, Keyway: keyway }).map(([name, rounds]) => [
            workload.name,
            name,
            spreadText(spreadOf(rounds.map(p50)), 3),
            spreadText(spreadOf(rounds.map(p99)), 3),
            String(rounds.reduce((sum, { failed }) => sum + failed, 0)),
          ]),
        ),
      },
    ],
    notes: [],
  }
}

const p50 = (one: Figures): number => one.p50
const p99 = (one: Figures): number => one.p99
