/** How long steps of a bench take, and how much more memory this process holds meanwhile. */

export type Took = { what: string; seconds: number; growthMib: number }

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
      let most = before
      const timer = setInterval(() => {
        most = Math.max(most, process.memoryUsage().rss)
      }, 50)
      const beganMs = performance.now()
      try {
        return await act()
      } finally {
        clearInterval(timer)
        const seconds = (performance.now() - beganMs) / 1000
        took.push({ what, seconds, growthMib: (most - before) / 2 ** 20 })
      }
    },
  }
}
