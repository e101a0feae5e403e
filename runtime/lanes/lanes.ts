/**
 * All lanes of a host. Built-in connectors share lanes by kind; every other connector version has a lane of
 * its own. Lanes start lazily and are stopped when idle. A worker whose resident memory exceeds its bound is
 * killed.
 */
import { RuntimeError } from '../contract/errors/errors.ts'
import type { Done, LaneCall, LaneReply, RequireServed } from '../protocol/lane-call.ts'
import type { LoadedConnector } from '../protocol/loaded.ts'
import { type CpuWatch, createCpuWatch } from './cpu-watch.ts'
import { createHeavyBook } from './heavy-book.ts'
import { createLane, type Lane, type LaneLimits } from './lane.ts'
import { isGuilty, overdueError, SandboxLost } from './lane-errors.ts'
import type { Containment, Launcher } from './launch.ts'
import { createPriorities, type Priorities, type Scheduling } from './priority.ts'
import { type ProcessStat, readStat } from './process-stat.ts'
import { createQuarantineBook, QUARANTINE_LIMITS, type QuarantineBook } from './quarantine.ts'
import { createRank, type Rank } from './rank.ts'
import { createSpare } from './spare-worker.ts'
import type { WorkerEnd } from './worker-link.ts'

export type LanesLimits = LaneLimits & {
  /** Idle time after which a worker is stopped, in milliseconds. */
  idleMs: number
  /** Resident memory at which a worker is killed, in bytes. */
  maxWorkerBytes: number
  /** How long a worker may be stopped by a signal before it is replaced, in milliseconds. */
  maxStoppedMs: number
  /**
   * How long a worker must be calm before it gets the same priority as the host, in milliseconds: initially,
   * and after it has burned CPU or while its connectors are under suspicion.
   */
  newMs: number
  goodMs: number
  /** Interval of the checks of resident memory, idleness and idle isolates, in milliseconds. */
  pollMs: number
}

export const LANES_LIMITS: LanesLimits = {
  maxIsolates: 64,
  maxCalls: 50_000,
  maxAgeMs: 3_600_000,
  warmIsolates: 16,
  warmMs: 30_000,
  maxWaiting: 256,
  shared: false,
  pingMs: 100,
  idlePingMs: 1000,
  // A worker may be busy with a large reply, and a shared lane has only one.
  disposeMs: 1000,
  startMs: 10_000,
  restartMs: 100,
  maxRestartMs: 10_000,
  calmMs: 30_000,
  idleMs: 300_000,
  maxWorkerBytes: 1024 * 1024 * 1024,
  maxStoppedMs: 1000,
  newMs: 2000,
  goodMs: 30_000,
  pollMs: 250,
}

/** Maximum number of repetitions of a call because other code of the worker computed for too long. */
const MAX_SLOW = 3

/** Key of the spare worker, which has no lane yet. */
const SPARE = 'spare'

/** Key of a lane: of one connector version, or the name of a shared one. */
type LaneKey = string

export type LaneState = {
  lane: LaneKey
  pid: number | null
  calls: number
  /** Those of them that wait for an isolate. */
  waiting: number
  isolates: number
  deaths: number
}

export type Lanes = {
  readonly containment: Containment
  /** Priority of workers relative to the host. */
  readonly scheduling: Scheduling
  /**
   * Runs a call. A call that was lost with its sandbox through no fault of its own is repeated if it has sent
   * only GET and HEAD requests: once, and more often if the sandbox was ended for computing too long.
   *
   * @throws RuntimeError
   */
  run(lane: LaneKey, call: LaneCall): Promise<LaneReply>
  /** The same without promises; `done` may be called before this returns. */
  start(lane: LaneKey, call: LaneCall, done: Done<LaneReply>): void
  /**
   * Loads a connector in a temporary worker and returns the capabilities it implements.
   *
   * @throws load_failed, isolate_memory, deadline_passed, worker_died
   */
  describe(connector: LoadedConnector, deadlineMs: number): Promise<string[]>
  /** Ends the calls for which `requireServed` throws, with the thrown error. */
  cutOff(requireServed: RequireServed): void
  /** Stops a lane's worker once its calls are done. */
  drain(lane: LaneKey): void
  states(): LaneState[]
  /** State of a connector, by its digest. */
  standing: Pick<QuarantineBook, 'of' | 'count'>
  /** Ends suspicion, quarantine and pauses of a connector. Returns false if there was none. */
  release(digest: string): boolean
  /** Keeps a spare worker ready for the next lane that starts. */
  keepSpare(): void
  /**
   * Starts a worker now, for a lane or description that is about to begin. The returned function stops it if
   * none began.
   */
  prepare(): () => void
  stop(): void
}

type Entry = {
  lane: Lane
  deaths: number
  draining: boolean
  /** Its worker burned CPU and has the lowest priority. */
  slowed: boolean
  uses: CpuWatch
  rank: Rank
  /** Since when its worker has been stopped, in milliseconds since the epoch; null while it runs. */
  stoppedSinceMs: number | null
}

/** Events of the lanes, for the log and the metrics. */
export type LanesEvents = {
  onEnd?(lane: LaneKey, end: WorkerEnd): void
  /** A call is repeated. */
  onRepeat?(lane: LaneKey): void
  /** A connector, by its digest, is quarantined because its worker kept dying. */
  onQuarantined?(digest: string): void
  /** A worker burned CPU without answering. Its priority is now the lowest. */
  onSlowed?(lane: LaneKey): void
}

/** Creates the lanes. No worker is started before the first call, except the spare one. */
export function createLanes(
  launcher: Launcher,
  events: LanesEvents = {},
  limits: LanesLimits = LANES_LIMITS,
  priorities: Priorities = createPriorities(),
): Lanes {
  const spare = createSpare(launcher, (how) =>
    events.onEnd?.(SPARE, { reason: how === 'SIGKILL' ? 'killed' : 'crashed', detail: how }),
  )
  const standing = createQuarantineBook(Date.now, QUARANTINE_LIMITS, (digest) =>
    events.onQuarantined?.(digest),
  )
  const heavy = createHeavyBook()
  const lanes = new Map<LaneKey, Entry>()
  /** Lanes of connectors that are being verified. */
  const describing = new Map<Lane, { rank: Rank; uses: CpuWatch }>()
  let stopped = false

  const refuseWhenStopped = () => {
    if (stopped) throw new RuntimeError('stopping', 'the runtime is stopping')
  }

  function open(key: LaneKey, { digest }: LoadedConnector): Lane {
    const known = lanes.get(key)
    if (known) {
      // It is used again before it was empty: the same version is served again.
      known.draining = false
      return known.lane
    }
    const shared = key !== digest && key !== aloneKey(digest)
    const rank = createRank(priorities, { ...limits, isShared: shared })
    const entry: Entry = {
      deaths: 0,
      draining: false,
      slowed: false,
      uses: createCpuWatch(),
      rank,
      stoppedSinceMs: null,
      lane: createLane(
        ranked({ ...launcher, start: () => startFor(key) }, rank, () => isClear(key)),
        { ...limits, shared },
        heavy,
        (end, connectors) => {
          entry.stoppedSinceMs = null
          if (end.reason !== 'stopped') entry.deaths += 1
          entry.slowed = false
          if (isGuilty(end)) standing.died(connectors)
          events.onEnd?.(key, end)
        },
      ),
    }
    lanes.set(key, entry)
    return entry.lane
  }

  /**
   * A lane alone belongs to a connector in whose worker something died. Of other lanes only the digest is
   * known.
   */
  const isClear = (key: LaneKey) => standing.of(key.replace(/^alone /, '')).state === 'clear'

  /**
   * If workers of a connector have died, starting the next one costs the others, so its start has a low
   * priority too.
   */
  const startFor = (key: LaneKey) => (isClear(key) ? spare.start() : launcher.start())

  const look = ({ pid }: Lane) => (pid === null ? null : readStat(pid))

  const boundMemory = (lane: Lane, seen: ProcessStat | null) => {
    if (seen !== null && seen.residentBytes > limits.maxWorkerBytes)
      lane.kill(lane.isolates > 1 ? 'crowded' : 'memory', 'resident memory')
  }

  /** Replaces a worker that was stopped (SIGSTOP). Its calls would wait until their deadlines. */
  const replaceStopped = (entry: Entry, seen: ProcessStat | null) => {
    if (!seen?.stopped) entry.stoppedSinceMs = null
    else {
      entry.stoppedSinceMs ??= Date.now()
      if (Date.now() - entry.stoppedSinceMs >= limits.maxStoppedMs)
        entry.lane.kill('killed', 'it was stopped by a signal')
    }
  }

  const poll = setInterval(() => {
    for (const [lane, { rank, uses }] of describing) {
      boundMemory(lane, look(lane))
      if (lane.pid !== null) rank.looked(lane.pid, uses(lane.pid, lane.answers), true)
    }
    for (const [key, entry] of lanes) {
      const { lane, draining, slowed } = entry
      const { pid } = lane
      const idle = lane.running === 0
      const seen = look(lane)
      lane.tend()
      boundMemory(lane, seen)
      replaceStopped(entry, seen)
      if (pid !== null) {
        const use = entry.uses(pid, lane.answers)
        entry.rank.looked(pid, use, isClear(key))
        if (use === 'burned') {
          // Its priority is not raised again. The worker is stopped when its calls are done.
          entry.slowed = true
          events.onSlowed?.(key)
        }
      }
      if (idle && (draining || slowed || Date.now() - lane.lastUsedMs > limits.idleMs)) {
        lane.kill('stopped', slowed ? 'slowed' : draining ? 'drained' : 'idle')
        lanes.delete(key)
      }
    }
  }, limits.pollMs)
  poll.unref()

  /** Returns the lane for a call now. A suspected connector shares none. */
  function laneFor(key: LaneKey, { digest }: LoadedConnector): LaneKey {
    const stands = standing.of(digest)
    if (stands.state === 'quarantined')
      throw new RuntimeError('quarantined', `the connector is in quarantine: ${stands.reason}`)
    return stands.state === 'suspect' && key !== digest ? aloneKey(digest) : key
  }

  function enter(key: LaneKey, call: LaneCall, done: Done<LaneReply>): void {
    let lane: Lane
    try {
      refuseWhenStopped()
      lane = open(laneFor(key, call.connector), call.connector)
    } catch (error) {
      if (error instanceof RuntimeError) return done(error)
      throw error
    }
    lane.start(call, done)
  }

  function start(key: LaneKey, call: LaneCall, done: Done<LaneReply>): void {
    const endMs = Date.now() + call.deadlineMs
    let left = 1
    let leftSlow = MAX_SLOW
    const ended = (how: LaneReply | RuntimeError) => {
      if (!(how instanceof SandboxLost)) return done(how)
      if (!how.innocent || call.hasWritten() || stopped) return done(how)
      if (how.slow ? leftSlow-- === 0 : left-- === 0) return done(how)
      const deadlineMs = endMs - Date.now()
      if (deadlineMs <= 0) return done(overdueError())
      events.onRepeat?.(key)
      enter(key, { ...call, deadlineMs }, ended)
    }
    enter(key, call, ended)
  }

  return {
    containment: launcher.containment,
    scheduling: priorities.scheduling,
    standing,
    release(digest) {
      for (const key of [digest, aloneKey(digest)]) lanes.get(key)?.lane.forgive()
      return standing.release(digest)
    },
    start,
    run: (key, call) =>
      new Promise((resolve, reject) =>
        start(key, call, (ended) =>
          ended instanceof RuntimeError ? reject(ended) : resolve(ended),
        ),
      ),
    async describe(connector, deadlineMs) {
      refuseWhenStopped()
      const rank = createRank(priorities, { ...limits, isShared: false })
      const lane = createLane(
        ranked({ ...launcher, start: spare.start }, rank, () => true),
        limits,
        heavy,
        () => {},
      )
      describing.set(lane, { rank, uses: createCpuWatch() })
      try {
        return await lane.describe(connector, deadlineMs)
      } finally {
        describing.delete(lane)
        lane.kill('stopped', 'described')
      }
    },
    cutOff(requireServed) {
      for (const { lane } of lanes.values()) lane.cutOff(requireServed)
    },
    drain(key) {
      const known = lanes.get(key)
      if (known) known.draining = true
    },
    states: () =>
      [...lanes].map(([lane, { lane: one, deaths }]) => ({
        lane,
        pid: one.pid,
        calls: one.running,
        waiting: one.waiting,
        isolates: one.isolates,
        deaths,
      })),
    keepSpare: spare.keep,
    prepare: spare.prepare,
    stop() {
      stopped = true
      clearInterval(poll)
      spare.stop()
      for (const lane of [...[...lanes.values()].map((one) => one.lane), ...describing.keys()])
        lane.kill('stopped', 'the runtime stops')
      lanes.clear()
    },
  }
}

/** Sets the priority of every worker started for a lane. */
const ranked = (launcher: Launcher, rank: Rank, isClear: () => boolean): Launcher => ({
  ...launcher,
  onReady: rank.ready,
  start() {
    const made = launcher.start()
    const { process, hasStarted = false } = made
    if (process.pid !== undefined) rank.started(process.pid, isClear(), hasStarted)
    return made
  },
})

/** Returns the key of the lane of a connector that shares none for a time. */
const aloneKey = (digest: string): LaneKey => `alone ${digest}`
