/** Processor priority of one lane's worker over time. */
import type { CpuUse } from './cpu-watch.ts'
import type { Priorities, Priority } from './priority.ts'

export type Rank = {
  /**
   * A worker was started, or is one that `hasStarted` before. `isClear`: its connectors are not under
   * suspicion.
   */
  started(pid: number, isClear: boolean, hasStarted: boolean): void
  /** Its start, which runs the host's own code, is over. It now runs connector code. */
  ready(pid: number): void
  looked(pid: number, use: CpuUse, isClear: boolean): void
}

type RankLimits = {
  /**
   * Only built-in connectors, or connectors signed by a trusted publisher, share a lane. Its worker keeps the
   * host's priority.
   */
  isShared: boolean
  /** How long a new worker must be calm to be well-behaved, in milliseconds. */
  newMs: number
  /**
   * The same after it has burned CPU at the host's priority, or while its connectors were under suspicion.
   */
  goodMs: number
}

/** Ranks the workers of one lane, one at a time. */
export function createRank(
  priorities: Priorities,
  { isShared, newMs, goodMs }: RankLimits,
  now: () => number = Date.now,
): Rank {
  let of = 0
  let wanted: Priority = 'usual'
  let isSet = true
  let isReady = false
  let calmSinceMs = 0
  let neededMs = newMs

  const take = (pid: number, priority: Priority) => {
    if (wanted === priority && isSet) return
    wanted = priority
    isSet = priorities.set(pid, priority)
  }

  function started(pid: number, isClear: boolean, hasStarted: boolean): void {
    of = pid
    isReady = false
    neededMs = isClear ? newMs : goodMs
    calmSinceMs = now()
    // If workers have died before, starting the next one costs the others. The kernel may accept only one
    // value per tenth of a second, so a worker that has already started is lowered immediately.
    wanted = isShared || (isClear && !hasStarted) ? 'usual' : 'low'
    // The host's own autogroup may have changed.
    isSet = priorities.set(pid, wanted)
  }

  return {
    started,
    ready(pid) {
      if (of !== pid) return
      isReady = true
      calmSinceMs = now()
      if (!isShared) take(pid, 'low')
    },
    looked(pid, use, isClear) {
      if (of !== pid) return
      if (use !== 'calm' || !isClear) calmSinceMs = now()
      // The first calls of a worker use much CPU, and are no reason for suspicion.
      if ((use !== 'calm' && isReady && wanted === 'usual') || !isClear) neededMs = goodMs
      if (wanted === 'last' || use === 'burned') return take(pid, 'last')
      // Not yet: starting uses the processor.
      if (!isReady) return take(pid, wanted)
      const isGood = priorities.scheduling.raises && now() - calmSinceMs >= neededMs
      take(pid, isShared || isGood ? 'usual' : 'low')
    },
  }
}
