/**
 * What a host remembers of lists: answers that are costly to find again, each with the version of the
 * tables that it was read from (versions.ts). At the same version the answer is the same, so this is never
 * stale; at another one it is found again.
 */

export type Remembered<T> = (key: string, version: string, find: () => Promise<T>) => Promise<T>

/** Remembers the answers to so many questions; the one that was not asked for longest goes first. */
export function createRemembered<T>(max: number): Remembered<T> {
  const answers = new Map<string, { version: string; answer: Promise<T> }>()
  return (key, version, find) => {
    const known = answers.get(key)
    answers.delete(key)
    if (known?.version === version) {
      answers.set(key, known)
      return known.answer
    }
    // Kept before it is found: of many who ask at once, one looks.
    const made = { version, answer: find() }
    answers.set(key, made)
    if (answers.size > max) answers.delete(answers.keys().next().value as string)
    made.answer.catch(() => {
      if (answers.get(key) === made) answers.delete(key)
    })
    return made.answer
  }
}
