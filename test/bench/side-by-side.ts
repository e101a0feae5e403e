/** Times of several ways to do the same, measured alternately and one at a time. */

const WARM_UP = 0.2

/** Median times, in milliseconds. */
export async function middleTimes<W extends string>(
  ways: Readonly<Record<W, () => Promise<unknown>>>,
  rounds: number,
): Promise<Record<W, number>> {
  // The cast: Object.keys returns plain strings.
  const names = Object.keys(ways) as W[]
  const times = new Map<W, number[]>(names.map((name) => [name, []]))
  const warmUp = rounds * WARM_UP
  for (let round = 0; round < rounds + warmUp; round += 1)
    for (const name of names) {
      const begunMs = performance.now()
      await ways[name]()
      if (round >= warmUp) times.get(name)?.push(performance.now() - begunMs)
    }
  const middle = (all: number[]) =>
    all.sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN
  // The cast: all names are there.
  return Object.fromEntries(names.map((name) => [name, middle(times.get(name) ?? [])])) as Record<
    W,
    number
  >
}
