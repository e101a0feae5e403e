/**
 * Repeats an action on request: runs one at a time, and combines requests that arrive during a run into one.
 */

type Latest = {
  again(): void
  /** Prevents further runs. Resolves when the current run has ended. */
  stop(): Promise<void>
}

export function createLatest(act: () => Promise<void>): Latest {
  let running: Promise<void> | null = null
  let isAsked = false
  let isStopped = false

  async function run(): Promise<void> {
    while (isAsked && !isStopped) {
      isAsked = false
      await act()
    }
    running = null
  }

  return {
    again() {
      isAsked = true
      if (!isStopped) running ??= run()
    },
    async stop() {
      isStopped = true
      await running
    },
  }
}
