/** Where one lane's worker stands for the processor, from one look at it to the next. */
import type { CpuUse } from './cpu-watch.ts'
import type { Priorities, Priority } from './priority.ts'

export type Rank = {
  /**
   * A worker was started, or is one that `hasStarted` before; `isClear`: nothing is held against its connectors.
   */
  started(pid: number, isClear: boolean, hasStarted: boolean): void
  /** Its start is over, which was the host's own code: what it runs now is a connector's. */
  ready(pid: number): void
  looked(pid: number, use: CpuUse, isClear: boolean): void
}

type RankLimits = {
  /** Only connectors that come with the host, or that a trusted publisher signed, share a lane: it stays beside the host. */
  isShared: boolean
  /** How long a worker is calm before it is of good standing, in milliseconds. */
  newMs: number
  /** The same after it has burned beside the host, or while anything was held against its connectors. */
  goodMs: number
}

/** Ranks the workers of one lane, of which there is one at a time. */
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
    // Where workers have died before, the start of the next one is what they cost the others.
    // The kernel may take one value in a tenth of a second: what has started is lowered at once.
    wanted = isShared || (isClear && !hasStarted) ? 'usual' : 'low'
    // The host's own autogroup may have been moved.
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
      // The first calls of a worker take much, and are no reason to doubt it.
      if ((use !== 'calm' && isReady && wanted === 'usual') || !isClear) neededMs = goodMs
      if (wanted === 'last' || use === 'burned') return take(pid, 'last')
      // Not yet: it takes the processor to start.
      if (!isReady) return take(pid, wanted)
      const isGood = priorities.scheduling.raises && now() - calmSinceMs >= neededMs
      take(pid, isShared || isGood ? 'usual' : 'low')
    },
  }
}
