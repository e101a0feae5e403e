/** Does something again whenever that is asked for: one after another, and what was asked for meanwhile once. */

type Latest = {
  again(): void
  /** No more of it; resolves when what runs has ended. */
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
