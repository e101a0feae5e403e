/** Suggestions for misspelt names. */

/** Returns the name that shares the most pairs of letters with a misspelt one, or null if none is close. */
export function nearest(misspelt: string, names: readonly string[]): string | null {
  const pairs = (text: string) =>
    new Set(Array.from({ length: text.length - 1 }, (_, at) => text.slice(at, at + 2)))
  const wanted = pairs(misspelt.toLowerCase().slice(0, 100).replaceAll('-', '_'))
  const scored = names
    .map((name) => {
      const own = pairs(name.toLowerCase())
      return { name, score: wanted.intersection(own).size / Math.max(own.size, wanted.size) }
    })
    .sort((a, b) => b.score - a.score)
  const best = scored[0]
  return best && best.score >= 0.5 ? best.name : null
}
