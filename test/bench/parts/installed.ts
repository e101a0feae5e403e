/**
 * The cost of connectors that are only installed, and of tenants that call in turn. Each number of connectors
 * has its own data directory: the first start compiles and checks every folder, later starts read the stored
 * verdicts.
 */
import path from 'node:path'
import { type Home, makeHome, startKeyway, untilServed } from '../contenders/keyway.ts'
import { below, type Findings, judge, spreadText } from '../findings.ts'
import { writeConnectors } from '../folders.ts'
import { type Memory, memoryOf } from '../processes.ts'
import { type Part, pause, type Run } from '../run.ts'
import type { Server } from '../server.ts'
import { median, type Spread, spreadOf } from '../statistics.ts'
import { tenant, timedList } from '../timed-call.ts'

const TENANTS = 50
/** Number of rounds of calls of all tenants. */
const TURNS = 3
/** Idle time of a host before its memory is measured, in milliseconds. */
const REST_MS = 3000
const TOO_LONG_MS = 2000
const TOO_MUCH_MB = 200

/** One start: times in milliseconds, memory after a rest. */
type Start = { readyMs: number; servedMs: number; idle: Memory }
type Size = {
  size: number
  first: Start
  /** Starts that read the stored verdicts of the first one. */
  again: Start[]
  /** After the last start: calls of the tenants of one connector, then of as many connectors. */
  tenants: Memory | null
  connectors: Memory | null
}

export const INSTALLED: Part = {
  title: 'Installed connectors and tenants in turn',
  length: ({ rounds }) => `one first start and ${rounds} later ones of each`,
  async measure(run) {
    const sizes: Size[] = []
    for (const size of run.sizes) sizes.push(await measureSize(run, size))
    return findings(sizes)
  },
}

async function measureSize(run: Run, size: number): Promise<Size> {
  const plugins = path.join(run.home, `plugins-${size}`)
  const ids = await writeConnectors(plugins, size)
  const home = await makeHome(run, `installed-${size}`)
  const measured: Omit<Size, 'first'> = { size, again: [], tenants: null, connectors: null }
  try {
    run.tell(`${size} connectors, first start`)
    const first = await started(run, home, plugins, ids, async () => undefined)
    for (let round = 0; round < run.rounds; round += 1) {
      run.tell(`${size} connectors, start ${round + 2} of ${run.rounds + 1}`)
      const isLast = round === run.rounds - 1
      const one = await started(run, home, plugins, ids, async (server) => {
        if (!isLast || size === 0) return
        measured.tenants = await inTurn(run, server, (n) => [ids[0] ?? '', `tenant ${n}`])
        measured.connectors = await inTurn(run, server, (n) => [ids[n] ?? '', 'tenant'])
      })
      measured.again.push(one)
    }
    return { ...measured, first }
  } finally {
    await home.remove()
  }
}

async function started(
  run: Run,
  home: Home,
  plugins: string,
  ids: readonly string[],
  then: (server: Server) => Promise<void>,
): Promise<Start> {
  const begun = performance.now()
  const server = await startKeyway(run, home, plugins)
  try {
    await untilServed(run, server, (served) => served.length >= ids.length + BUILT_IN)
    const servedMs = performance.now() - begun
    await pause(REST_MS)
    const idle = memoryOf(server)
    await then(server)
    return { readyMs: server.readyMs, servedMs, idle }
  } finally {
    await server.stop()
  }
}

/** The built-in connectors are always installed: scim and rabbitmq. */
const BUILT_IN = 2

/** Calls of a number of tenants, one after the other, repeatedly; and the memory afterwards. */
async function inTurn(
  { signal, tell }: Run,
  server: Server,
  who: (n: number) => [connector: string, tenant: string],
): Promise<Memory> {
  for (let turn = 0; turn < TURNS; turn += 1)
    for (let n = 0; n < TENANTS; n += 1) {
      const [connector, name] = who(n)
      tell(`${name} of ${connector}`)
      await timedList(server, connector, tenant(name), signal)
    }
  await pause(REST_MS)
  return memoryOf(server)
}

function findings(sizes: readonly Size[]): Findings {
  const empty = median((sizes[0]?.again ?? []).map(({ idle }) => idle.hostMb))
  const largest = sizes.at(-1) as Size
  const over = (mb: number): Spread => ({ median: mb - empty, min: mb - empty, max: mb - empty })
  const goal = below(TOO_MUCH_MB, 'MB')
  const { size, again, tenants, connectors } = largest
  const head = `${size} installed`
  return {
    judged: [
      judge(
        `${head}: start to ready, verdicts kept`,
        spreadOf(again.map(({ readyMs }) => readyMs)),
        below(TOO_LONG_MS, 'ms'),
        0,
        'ms',
      ),
      ...(tenants === null || connectors === null
        ? []
        : [
            judge(
              `${head}, ${TENANTS} tenants in turn: host over the empty host`,
              over(tenants.hostMb),
              goal,
              0,
              'MB',
            ),
            judge(
              `the same, with the worker of their connector`,
              over(tenants.hostMb + tenants.workersMb),
              goal,
              0,
              'MB',
            ),
            judge(
              `${head}, then ${TENANTS} connectors in turn: host over the empty host`,
              over(connectors.hostMb),
              goal,
              0,
              'MB',
            ),
          ]),
    ],
    tables: [startTable(sizes), memoryTable(sizes, empty)],
    notes: [
      `“Over the empty host” is over a host without drop-in connectors that rests, ${empty.toFixed(0)} MB of resident memory. A drop-in connector has a worker process of its own; what worker processes share is counted in each, the database not at all.`,
    ],
  }
}

const startTable = (sizes: readonly Size[]) => ({
  title: 'Start in milliseconds; a host is ready before all folders of others are checked',
  columns: ['installed', 'first start: ready', 'all served', 'later starts: ready', 'all served'],
  rows: sizes.map(({ size, first, again }) => [
    String(size),
    first.readyMs.toFixed(0),
    first.servedMs.toFixed(0),
    spreadText(spreadOf(again.map(({ readyMs }) => readyMs)), 0),
    spreadText(spreadOf(again.map(({ servedMs }) => servedMs)), 0),
  ]),
})

function memoryTable(sizes: readonly Size[], empty: number) {
  const cells = (memory: Memory | null) =>
    memory === null
      ? ['', '']
      : [signed(memory.hostMb - empty), `${memory.workersMb.toFixed(0)} in ${memory.workers}`]
  return {
    title: `Resident memory in MB: the host over the empty one, and its worker processes`,
    columns: [
      'installed',
      'idle after the first start',
      'idle after later starts',
      `${TENANTS} tenants of one connector in turn`,
      'workers',
      `${TENANTS} connectors in turn`,
      'workers',
    ],
    rows: sizes.map(({ size, first, again, tenants, connectors }) => [
      String(size),
      signed(first.idle.hostMb - empty),
      signed(median(again.map(({ idle }) => idle.hostMb)) - empty),
      ...cells(tenants),
      ...cells(connectors),
    ]),
  }
}

const signed = (mb: number): string => `${mb < 0 ? '−' : '+'}${Math.abs(mb).toFixed(0)}`
