/** Where one lane's worker stands for the processor, from one look at it to the next. */
import type { CpuUse } from './cpu-watch.ts'
import type { Priorities, Priority } from './priority.ts'

export type Rank = {
  /** A worker was started. */
  started(pid: number): void
  /** `isClear`: nothing is held against its connectors. */
  looked(pid: number, use: CpuUse, isClear: boolean): void
}

export type RankLimits = {
  /** The lane belongs to connectors that come with the host: it is beside the host from the start. */
  isOwn: boolean
  /** How long a worker is calm before it is of good standing, in milliseconds. */
  goodMs: number
}

/** Ranks the workers of one lane, of which there is one at a time. */
export function createRank(
  priorities: Priorities,
  { isOwn, goodMs }: RankLimits,
  now: () => number = Date.now,
): Rank {
  const first: Priority = isOwn ? 'usual' : 'low'
  let of = 0
  let wanted: Priority = first
  let isSet = true
  let calmSinceMs = 0

  const take = (pid: number, priority: Priority) => {
    if (wanted === priority && isSet) return
    wanted = priority
    isSet = priorities.set(pid, priority)
  }

  function started(pid: number): void {
    of = pid
    wanted = first
    // Also where it is to be beside the host, whose own autogroup may have been moved.
    isSet = priorities.set(pid, first)
    calmSinceMs = now()
  }

  return {
    started,
    looked(pid, use, isClear) {
      if (of !== pid) started(pid)
      if (use !== 'calm' || !isClear) calmSinceMs = now()
      if (wanted === 'last' || use === 'burned') return take(pid, 'last')
      const isGood = priorities.scheduling.raises && now() - calmSinceMs >= goodMs
      take(pid, isOwn || isGood ? 'usual' : 'low')
    },
  }
}
