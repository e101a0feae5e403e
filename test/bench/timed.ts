/** The duration of the steps of a bench, and the memory growth of this process during them. */
import { median } from './statistics.ts'

export type Took = {
  what: string
  seconds: number
  /** The largest growth. */
  growthMib: number
  /**
   * The median of the last quarter minus that of the second: growth with the work, not growth from starting
   * it.
   */
  driftMib: number
}

const MIB = 2 ** 20

/** Times one step after another. `took` has them in order. */
export function createTimed(tell: (what: string) => void): {
  took: Took[]
  timed<T>(what: string, act: () => Promise<T>): Promise<T>
} {
  const took: Took[] = []
  return {
    took,
    async timed(what, act) {
      tell(what)
      globalThis.gc?.()
      const before = process.memoryUsage().rss
      const held: number[] = [before]
      const timer = setInterval(() => held.push(process.memoryUsage().rss), 50)
      const beganMs = performance.now()
      try {
        return await act()
      } finally {
        clearInterval(timer)
        const seconds = (performance.now() - beganMs) / 1000
        took.push({
          ...{ what, seconds },
          growthMib: (Math.max(...held) - before) / MIB,
          driftMib: (quarter(held, 3) - quarter(held, 1)) / MIB,
        })
      }
    },
  }
}

function quarter(all: readonly number[], nth: number): number {
  const at = (n: number) => Math.floor((all.length * n) / 4)
  return median(all.slice(at(nth), Math.max(at(nth + 1), at(nth) + 1)))
}
