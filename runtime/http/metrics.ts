/** What Prometheus may ask. Labels are bounded: connectors and capabilities that exist, codes and causes of tables. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { CauseKind } from '../contract/causes.ts'

export type LaneSample = { calls: number; waiting: number; isolates: number }

export type Metrics = {
  /** One finished call; `code` is `ok` or one of our own error codes, `cause` a kind of CAUSES. */
  call(
    connector: string,
    capability: string,
    ended: { code: string; cause: CauseKind },
    seconds: number,
  ): void
  /** One upstream request; `outcome` is a status class such as `2xx`, or an error code. */
  upstream(connector: string, outcome: string, seconds: number): void
  /** A request was not made because too many, or too large ones, of its connector are open. */
  upstreamRefused(connector: string): void
  workerEnded(reason: string): void
  /** A call runs once more, because its sandbox was lost. */
  callRepeated(): void
  /** A worker was given the lowest priority. */
  workerSlowed(): void
  text(): Promise<string>
  readonly contentType: string
}

/** Makes the host's metrics; `lanes` and the others are asked whenever somebody looks. */
export function createMetrics(
  lanes: () => LaneSample[],
  served: () => number,
  standing: (state: 'suspect' | 'quarantined') => number,
  waitingForTurn: () => number,
): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const calls = new Counter({
    name: 'keyway_calls_total',
    help: 'Capability calls by outcome',
    labelNames: ['connector', 'capability', 'code', 'cause'],
    registers,
  })
  const callSeconds = new Histogram({
    name: 'keyway_call_seconds',
    help: 'Time from a request to its answer',
    labelNames: ['connector', 'capability'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  const upstreams = new Counter({
    name: 'keyway_upstream_requests_total',
    help: 'Requests to third-party systems by outcome',
    labelNames: ['connector', 'outcome'],
    registers,
  })
  const upstreamSeconds = new Histogram({
    name: 'keyway_upstream_seconds',
    help: 'Time of a request to a third-party system',
    labelNames: ['connector'],
    registers,
  })
  const refusals = new Counter({
    name: 'keyway_upstream_refused_total',
    help: 'Requests to third-party systems that were not made: too many, or too large ones, are open',
    labelNames: ['connector'],
    registers,
  })
  const ends = new Counter({
    name: 'keyway_worker_ends_total',
    help: 'Worker processes that ended, by reason',
    labelNames: ['reason'],
    registers,
  })
  const repeats = new Counter({
    name: 'keyway_calls_repeated_total',
    help: 'Calls that ran once more because their worker process died',
    registers,
  })
  const slowed = new Counter({
    name: 'keyway_workers_slowed_total',
    help: 'Worker processes that burned CPU without answering',
    registers,
  })
  const gauge = (name: string, help: string, read: (sample: LaneSample) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(lanes().reduce((sum, sample) => sum + read(sample), 0))
      },
    })
  new Gauge({
    name: 'keyway_calls_waiting',
    help: 'Calls that wait for a turn of their tenant, or for an isolate',
    labelNames: ['for'],
    registers,
    collect() {
      this.set({ for: 'turn' }, waitingForTurn())
      this.set(
        { for: 'isolate' },
        lanes().reduce((sum, { waiting }) => sum + waiting, 0),
      )
    },
  })
  gauge('keyway_calls_running', 'Calls in sandboxes now', ({ calls: running }) => running)
  gauge('keyway_isolates', 'Warm isolates', ({ isolates }) => isolates)
  gauge('keyway_lanes', 'Lanes that are open', () => 1)
  for (const state of ['suspect', 'quarantined'] as const) {
    new Gauge({
      name: `keyway_connectors_${state}`,
      help: `Connectors that are ${state} on this host`,
      registers,
      collect() {
        this.set(standing(state))
      },
    })
  }
  new Gauge({
    name: 'keyway_connectors',
    help: 'Connectors that are being served',
    registers,
    collect() {
      this.set(served())
    },
  })
  return {
    call(connector, capability, { code, cause }, seconds) {
      calls.inc({ connector, capability, code, cause })
      callSeconds.observe({ connector, capability }, seconds)
    },
    upstream(connector, outcome, seconds) {
      upstreams.inc({ connector, outcome })
      upstreamSeconds.observe({ connector }, seconds)
    },
    upstreamRefused: (connector) => refusals.inc({ connector }),
    workerEnded: (reason) => ends.inc({ reason }),
    callRepeated: () => repeats.inc(),
    workerSlowed: () => slowed.inc(),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
