/** How long steps of a bench take, and how much more memory this process holds meanwhile. */
import { median } from './statistics.ts'

export type Took = {
  what: string
  seconds: number
  /** What it held more at most. */
  growthMib: number
  /** Its median in the last quarter over that in the second: what grows with the work, and not because work began. */
  driftMib: number
}

const MIB = 2 ** 20

/** Times one step after another; `took` has them in their order. */
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
