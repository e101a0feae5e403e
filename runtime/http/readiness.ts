/** Whether a host can serve, and what it waits for: what /readyz says. */

/** What the parts of a host say of themselves, each in the moment in which it is asked. */
export type ReadinessParts = {
  /** Built-in connectors are served or ghosts. */
  started(): boolean
  /** The database was there once; null for a host without one. */
  reached(): boolean
  /** How many connectors are being looked up. */
  checking(): number
  /** What the database waits for. */
  database(): string | string[] | null
  /** What else is told, ready or not. */
  more(): Record<string, unknown>
}

export type Readiness = {
  say(): { ready: boolean } & Record<string, unknown>
  /** Not ready before `done` has ended, however it ends; `what` is what is waited for meanwhile. */
  after(what: string, done: Promise<void>): void
}

export function createReadiness(parts: ReadinessParts): Readiness {
  const preparing = new Set<string>()
  return {
    say: () => ({
      ready: parts.started() && parts.reached() && preparing.size === 0,
      waiting_for: [
        ...(parts.started() ? [] : [`${parts.checking()} connectors are being looked up`]),
        ...[parts.database() ?? []].flat(),
        ...preparing,
      ],
      ...parts.more(),
    }),
    after(what, done) {
      preparing.add(what)
      const over = () => void preparing.delete(what)
      done.then(over, over)
    },
  }
}
