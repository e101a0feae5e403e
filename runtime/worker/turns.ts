/** The delivered turns of one isolate: few are under way at once, the others wait in line. */
export type Turns = {
  /** Runs `go` when its turn has come; it resolves, and never rejects, when the turn is over. */
  enter(go: () => Promise<void>): void
  /** Resolves when the oldest turn that is under way is over, or after so many milliseconds. */
  oldest(patienceMs: number): Promise<void>
  /** Resolves when no turn is under way or waits. */
  idle(): Promise<void>
}

/** `most` is how many turns may be under way. What waits is bounded by what a guest may ask for. */
export function createTurns(most: number): Turns {
  const underWay: Promise<void>[] = []
  const line: (() => Promise<void>)[] = []
  let waitForIdle: (() => void)[] = []

  function start(go: () => Promise<void>): void {
    const turn = go().then(() => {
      underWay.splice(underWay.indexOf(turn), 1)
      const following = line.shift()
      if (following) return start(following)
      if (underWay.length > 0) return
      const waited = waitForIdle
      waitForIdle = []
      for (const one of waited) one()
    })
    underWay.push(turn)
  }

  return {
    enter(go) {
      if (underWay.length < most) start(go)
      else line.push(go)
    },
    oldest(patienceMs) {
      const [turn] = underWay
      if (turn === undefined) return Promise.resolve()
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, patienceMs)
        void turn.then(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    },
    idle: () =>
      underWay.length === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            waitForIdle.push(resolve)
          }),
  }
}
