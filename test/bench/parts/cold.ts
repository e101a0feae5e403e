/**
 * The duration of a connector's first call: in a lane that already runs and in one that has to be started,
 * with and without compiled code from V8's cache. Several hosts are started with the same data directory, so
 * that later ones can use the cache of the first.
 */
import path from 'node:path'
import { type Home, makeHome, startKeyway, untilServed } from '../contenders/keyway.ts'
import { below, type Findings, type Goal, judge, spreadText } from '../findings.ts'
import { writeConnectors } from '../folders.ts'
import type { Part, Run } from '../run.ts'
import type { Server } from '../server.ts'
import { spreadOf } from '../statistics.ts'
import { type Envelope, tenant, timedList } from '../timed-call.ts'
import { startUpstream, type Upstream } from '../upstream.ts'

/** Connectors with a lane of their own, each of which gives one sample per host. */
const LONE = 5
const TENANTS = 5
const WARM_CALLS = 200

/** Samples in milliseconds. */
type Samples = Record<Case, number[]>
type Case = keyof typeof CASES

const RUNNING = below(50, 'ms')
const STARTING = below(250, 'ms')

/** The ways that are measured. The goals apply to the slowest of each kind. */
const CASES = {
  warm: { what: 'warm call, for comparison', code: '-', goal: null },
  tenant: {
    what: 'lane runs: new tenant of a connector that runs in it',
    code: 'yes',
    goal: RUNNING,
  },
  other: {
    what: 'lane runs: connector that is new to it, asking its upstream',
    code: 'prelude only',
    goal: RUNNING,
  },
  first: { what: 'no lane: connector that never ran', code: 'no', goal: STARTING },
  kept: {
    what: 'no lane: connector that ran before the host was started again',
    code: 'what the host keeps',
    goal: STARTING,
  },
} as const satisfies Record<string, { what: string; code: string; goal: Goal | null }>

export const COLD: Part = {
  title: 'The first call of a cold connector',
  length: ({ rounds }) =>
    `${rounds + 1} starts of the host, ${LONE} connectors and ${TENANTS} tenants in each`,
  async measure(run) {
    const plugins = path.join(run.home, 'cold-plugins')
    const ids = await writeConnectors(plugins, LONE + 1)
    const home = await makeHome(run, 'cold')
    const upstream = await startUpstream()
    const samples: Samples = { warm: [], tenant: [], other: [], first: [], kept: [] }
    try {
      for (let start = 0; start <= run.rounds; start += 1) {
        run.tell(`cold calls, start ${start + 1} of ${run.rounds + 1}`)
        await measureHost(run, { home, plugins, ids, upstream, start, samples })
      }
      return findings(samples)
    } finally {
      upstream.close()
      await home.remove()
    }
  },
}

type Scene = {
  home: Home
  plugins: string
  ids: readonly string[]
  upstream: Upstream
  start: number
  samples: Samples
}

async function measureHost(run: Run, scene: Scene): Promise<void> {
  const { home, plugins, ids, upstream, start, samples } = scene
  const grants = ['scim', 'rabbitmq'].map((id) => `${id}=${upstream.address}`).join(' ')
  const server = await startKeyway(run, home, plugins, { KEYWAY_PRIVATE_EGRESS: grants })
  try {
    await untilServed(run, server, (served) => ids.every((id) => served.includes(id)))
    const list = (id: string, envelope: Envelope) => timedList(server, id, envelope, run.signal)
    const [shared = '', ...lone] = ids
    for (const id of lone) samples[start === 0 ? 'first' : 'kept'].push(await list(id, tenant('a')))
    for (let call = 0; call < WARM_CALLS; call += 1) {
      const tookMs = await list(shared, tenant('warm'))
      if (call >= WARM_CALLS / 2) samples.warm.push(tookMs)
    }
    for (let n = 0; n < TENANTS; n += 1) samples.tenant.push(await list(shared, tenant(`new ${n}`)))
    samples.other.push(await otherInLane(server, upstream, start, run.signal))
  } finally {
    await server.stop()
  }
}

/** The built-in connectors share a lane: one starts it, and the first call of the other is measured. */
async function otherInLane(
  server: Server,
  { address }: Upstream,
  start: number,
  signal: AbortSignal,
): Promise<number> {
  const both: [string, Envelope][] = [
    ['scim', { ...tenant('a'), settings: { base_url: `http://${address}/scim` } }],
    [
      'rabbitmq',
      {
        auth: { basic: { username: 'guest', password: 'guest' } },
        settings: { base_url: `http://${address}/api` },
      },
    ],
  ]
  const [first, second] = (start % 2 === 0 ? both : both.toReversed()) as [
    [string, Envelope],
    [string, Envelope],
  ]
  await timedList(server, ...first, signal)
  return timedList(server, ...second, signal)
}

function findings(samples: Samples): Findings {
  const all = (Object.keys(CASES) as Case[]).map((name) => {
    return { ...CASES[name], taken: samples[name] }
  })
  return {
    judged: all.flatMap(({ what, goal, taken }) =>
      goal === null ? [] : [judge(what, spreadOf(taken), goal, 1, 'ms')],
    ),
    tables: [
      {
        title: 'From sending the request to the whole answer, in milliseconds',
        columns: ['', 'code compiled before', 'samples', 'median (smallest–largest)'],
        rows: all.map(({ what, code, taken }) => [
          what,
          code,
          String(taken.length),
          spreadText(spreadOf(taken), 1),
        ]),
      },
    ],
    notes: [
      'V8’s compiled code of the prelude and of each connector lives in the worker that made it: a new tenant finds both there, a connector that is new to a lane finds the prelude’s, a new worker finds what the host keeps on disk, if anything.',
    ],
  }
}
