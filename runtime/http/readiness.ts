/** Whether a host can serve, and what it waits for: what /readyz says. */

/** What the parts of a host say of themselves, each in the moment in which it is asked. */
type ReadinessParts = {
  /** Built-in connectors are served or ghosts. */
  started(): boolean
  /** The database was there once; null for a host without one. */
  reached(): boolean
  /** Why the data directory takes no files; null while it does. */
  directory(): string | null
  /** How many connectors are being looked up. */
  checking(): number
  /** What the database waits for, and whether it serves now; null for a host without one. */
  database: { waitingFor(): string[]; serves(): boolean } | null
  /** What else is told, ready or not. */
  more(): Record<string, unknown>
}

export type Readiness = {
  say(): { ready: boolean } & Record<string, unknown>
  /** The same for connectors alone: once a host has served, they answer without database and disk. */
  sayForConnectors(): { ready: boolean } & Record<string, unknown>
  /** Not ready before `done` has ended, however it ends; `what` is what is waited for meanwhile. */
  after(what: string, done: Promise<void>): void
}

const lookedUp = (count: number): string =>
  count === 0 ? 'connectors are being looked up' : `${count} connectors are being looked up`

export function createReadiness(parts: ReadinessParts): Readiness {
  const preparing = new Set<string>()
  const begun = () => parts.started() && parts.reached() && preparing.size === 0
  const said = (ready: boolean) => ({
    ready,
    waiting_for: [
      ...(parts.started() ? [] : [lookedUp(parts.checking())]),
      ...(parts.database?.waitingFor() ?? []),
      ...[parts.directory() ?? []].flat(),
      ...preparing,
    ],
    ...parts.more(),
  })
  return {
    say: () => said(begun() && (parts.database?.serves() ?? true) && parts.directory() === null),
    sayForConnectors: () => said(begun()),
    after(what, done) {
      preparing.add(what)
      const over = () => void preparing.delete(what)
      done.then(over, over)
    },
  }
}
