/** Readiness of a host: whether it can serve, and what it waits for. */

/** Current state of the parts of a host. Each function is called when readiness is queried. */
type ReadinessParts = {
  /** Reports whether every built-in connector is served or a ghost. */
  started(): boolean
  /** Reports whether the database has been reached at least once; null for a host without a database. */
  reached(): boolean
  /** Returns why the data directory accepts no files, or null if it does. */
  directory(): string | null
  /** Returns the number of connectors that are being looked up. */
  checking(): number
  /** What the database waits for, and whether it serves now; null for a host without a database. */
  database: { waitingFor(): string[]; serves(): boolean } | null
  /** Returns further members of the answer, whether the host is ready or not. */
  more(): Record<string, unknown>
}

export type Readiness = {
  say(): { ready: boolean } & Record<string, unknown>
  /** The same for connectors alone. Once a host has served, they answer without database and disk. */
  sayForConnectors(): { ready: boolean } & Record<string, unknown>
  /** Keeps the host not ready until `done` settles. `what` names the work in `waiting_for`. */
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
