/** Delivery turns of one isolate. A few are under way at once; the others wait in line. */
type Turns = {
  /** Runs `go` when its turn has come. `go` resolves, and never rejects, when the turn is over. */
  enter(go: () => Promise<void>): void
}

/**
 * Makes the turns of one isolate. At most `most` are under way. The line is bounded by the limits on a
 * guest's requests.
 */
export function createTurns(most: number): Turns {
  const line: (() => Promise<void>)[] = []
  let underWay = 0

  async function start(go: () => Promise<void>): Promise<void> {
    underWay += 1
    await go()
    underWay -= 1
    const following = line.shift()
    if (following) void start(following)
  }

  return {
    enter(go) {
      if (underWay < most) void start(go)
      else line.push(go)
    },
  }
}
