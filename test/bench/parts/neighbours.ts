/**
 * The effect of a hostile connector on its neighbours: a healthy one is called at a steady rate, even if
 * other calls are waiting, alone and during each of several attacks, one after the other.
 */
import { cp } from 'node:fs/promises'
import path from 'node:path'
import type { Family } from '../../../runtime/verify/attacks/attack.ts'
import { cpuMsOf } from '../../../runtime/verify/processes.ts'
import { makeHome, startKeyway, untilServed } from '../contenders/keyway.ts'
import { type Findings, type Goal, type Judged, judge, nothing, spreadText } from '../findings.ts'
import { startHostile, writeAttack } from '../hostile.ts'
import { closedLoad, type OpenFigures, openLoad } from '../load/loads.ts'
import { type Part, pause, type Run } from '../run.ts'
import type { Server } from '../server.ts'
import { median, spreadOf } from '../statistics.ts'
import { targetOf, WORKLOADS } from '../workloads.ts'

/** Share of the rate that the host can answer without an attack. */
const SHARE = 0.3
const CALLERS = 32
/** Multiple of the length of other measurements, because an attack takes time to take effect. */
const TIMES = 2

type Neighbour = { what: string; family: Family; attack: string }

const HOSTILE: readonly Neighbour[] = [
  { what: 'spins', family: 'time', attack: 'loop-in-handler' },
  { what: 'leaks a little in every call', family: 'memory', attack: 'slow-leak' },
  { what: 'leaks outside the heap', family: 'memory', attack: 'intl' },
  { what: 'crashes in a loop', family: 'neighbour', attack: 'kill-every-call' },
]
const QUIET = 'nobody disturbs'

type Row = { what: string; rounds: OpenFigures[]; endings: Map<string, number> }

export const NEIGHBOURS: Part = {
  title: 'Beside a hostile neighbour',
  length: ({ rounds, seconds }) => `${rounds} rounds of ${TIMES * seconds} s each`,
  async measure(run) {
    const plugins = path.join(run.home, 'neighbours-plugins')
    await cp(path.join(import.meta.dirname, '..', 'connectors'), plugins, { recursive: true })
    for (const { family, attack } of HOSTILE) await writeAttack(plugins, family, attack)
    const home = await makeHome(run, 'neighbours')
    try {
      const server = await startKeyway(run, home, plugins)
      try {
        const needed = ['bench', ...HOSTILE.map(({ attack }) => attack)]
        await untilServed(run, server, (ids) => needed.every((id) => ids.includes(id)))
        return await measureAll(run, server)
      } finally {
        await server.stop()
      }
    } finally {
      await home.remove()
    }
  },
}

const TARGETS = WORKLOADS.map(targetOf)

async function measureAll(run: Run, server: Server): Promise<Findings> {
  const { rounds, seconds, signal, tell } = run
  const perSecond = SHARE * (await quietCapacity(run, server))
  const load = { url: server.url, targets: TARGETS, perSecond, seconds: TIMES * seconds }
  const quiet: Row = { what: QUIET, rounds: [], endings: new Map() }
  const rows = HOSTILE.map(({ what }): Row => ({ what, rounds: [], endings: new Map() }))
  for (let round = 0; round < rounds; round += 1) {
    tell(`quiet, round ${round + 1} of ${rounds}`)
    quiet.rounds.push(await openLoad(load, signal))
    for (const [index, { what, attack }] of HOSTILE.entries()) {
      tell(`a neighbour ${what}, round ${round + 1} of ${rounds}`)
      const row = rows[index] as Row
      const hostile = await startHostile(server, attack)
      row.rounds.push(await openLoad(load, signal))
      for (const [ending, count] of await hostile.stop())
        row.endings.set(ending, (row.endings.get(ending) ?? 0) + count)
      await untilCalm(server)
    }
  }
  return findings(perSecond, quiet, rows)
}

async function quietCapacity(
  { rounds, seconds, signal, tell }: Run,
  { url }: Server,
): Promise<number> {
  const measured: number[] = []
  for (let round = 0; round < Math.min(3, rounds); round += 1) {
    tell('quiet capacity')
    const load = { url, targets: TARGETS, callers: CALLERS, seconds }
    measured.push((await closedLoad(load, signal)).perSecond)
  }
  return median(measured)
}

const CALM_MS = 10_000
const WINDOW_MS = 250
/** Processor time in a window that still counts as idle, in milliseconds. */
const CALM_CPU_MS = 40

/**
 * Waits until the host and its workers are idle, because remains of an attack would affect the next figures.
 */
async function untilCalm({ pid }: Server): Promise<void> {
  const endMs = performance.now() + CALM_MS
  while (performance.now() < endMs) {
    const before = cpuMsOf(pid)
    await pause(WINDOW_MS)
    if (cpuMsOf(pid) - before <= CALM_CPU_MS) return
  }
}

function findings(perSecond: number, quiet: Row, rows: readonly Row[]): Findings {
  const quietP99 = median(quiet.rounds.map(p99))
  const bound = 1.5 * quietP99 + 5
  const goal: Goal = {
    words: `≤ 1.5 × quiet + 5 ms = ${bound.toFixed(1)} ms`,
    isMet: (value) => value <= bound,
  }
  return {
    judged: rows.flatMap(({ what, rounds }): Judged[] => {
      const errors = rounds.reduce((sum, { failed }) => sum + failed, 0)
      return [
        judge(`a neighbour ${what}: failed calls`, spreadOf([errors]), nothing, 0),
        judge(`a neighbour ${what}: p99`, spreadOf(rounds.map(p99)), goal, 1, 'ms'),
      ]
    }),
    tables: [
      {
        title: `Latency in milliseconds at ${perSecond.toFixed(0)} calls/s, ${SHARE * 100} % of the quiet capacity, half lists and half writes; from the moment at which a call was to be sent`,
        columns: [
          'neighbour',
          'calls',
          'failed',
          'p50',
          'p99',
          'generator late, p99',
          'how the neighbour’s calls ended',
        ],
        rows: [quiet, ...rows].map(cells),
      },
    ],
    notes: [
      'The neighbour is called by four tenants of its own, each again 20 ms after its answer. Before each round it is released, so that every round sees it from its first crash on. The load generator runs on the same machine.',
    ],
  }
}

const p99 = (one: OpenFigures): number => one.p99

function cells({ what, rounds, endings }: Row): string[] {
  const total = (of: (one: OpenFigures) => number) =>
    String(rounds.reduce((sum, one) => sum + of(one), 0))
  const spread = (of: (one: OpenFigures) => number) => spreadText(spreadOf(rounds.map(of)), 2)
  return [
    what,
    total(({ calls }) => calls),
    total(({ failed }) => failed),
    spread(({ p50 }) => p50),
    spread(p99),
    spread(({ lateP99 }) => lateP99),
    [...endings].map(([ending, count]) => `${ending} ${count}`).join(', '),
  ]
}
