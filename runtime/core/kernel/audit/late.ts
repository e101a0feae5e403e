/**
 * Entries of the log for what works without the database: written at once if it is there, else once it is back. They wait
 * in memory. A host that ends before that loses them, and says so in its own log.
 */
import { isAway } from '../../../database/away.ts'
import type { Db } from '../../../database/database.ts'
import type { DatabaseService } from '../../../database/service.ts'

type Writing = {
  domainId: string
  /** For the metadata: when it happened, by the clock of the host, where the entry is written later. */
  happened: { happened_at?: string }
}

/** Writes one entry. */
type LateEntry = (tx: Db, writing: Writing) => Promise<void>

export type LateEntries = {
  /** Resolves when it is written, or kept for later; never rejects. */
  write(entry: LateEntry): Promise<void>
  /** Tries once more what is kept, and ends. */
  stop(): Promise<void>
}

type LateDeps = {
  /** Null where the host has none: nothing is written then. */
  database: Pick<DatabaseService, 'db' | 'domainId'> | null
  /** Hears of each entry that is lost. */
  onLost(error: unknown): void
}

/** Most entries that are kept. */
const MOST = 1000
/** How often to check whether the database is back, in milliseconds. */
const EVERY_MS = 1000

/** Makes an empty queue of late entries. */
export function createLateEntries({ database, onLost }: LateDeps): LateEntries {
  let kept: { entry: LateEntry; happened: Writing['happened'] }[] = []
  let timer: NodeJS.Timeout | null = null
  let flushing: Promise<void> | null = null

  /** Whether the entry is settled, written or lost; false while the database is away. */
  async function attempt(entry: LateEntry, happened: Writing['happened']): Promise<boolean> {
    const [db, domainId] = [database?.db(), database?.domainId()]
    if (!db || !domainId) return database === null
    try {
      await db.transaction((tx) => entry(tx, { domainId, happened }))
    } catch (error) {
      if (isAway(error)) return false
      onLost(error)
    }
    return true
  }

  /** Writes what is kept, oldest first. One at a time: two would write the first of them twice. */
  function flush(): Promise<void> {
    flushing ??= writeKept().finally(() => {
      flushing = null
    })
    return flushing
  }

  async function writeKept(): Promise<void> {
    for (;;) {
      const [first] = kept
      if (!first || !(await attempt(first.entry, first.happened))) return
      kept = kept.slice(1)
    }
  }

  function later(): void {
    timer ??= setTimeout(async () => {
      await flush()
      timer = null
      if (kept.length > 0) later()
    }, EVERY_MS).unref()
  }

  return {
    async write(entry) {
      const happened = { happened_at: new Date().toISOString() }
      // Behind those that wait: the log has them in the order in which they happened.
      if (kept.length === 0 && (await attempt(entry, {}))) return
      if (kept.length >= MOST) return onLost(new Error('too many entries wait for the database'))
      kept = [...kept, { entry, happened }]
      later()
    },
    async stop() {
      if (timer) clearTimeout(timer)
      await flush()
      for (const _ of kept) onLost(new Error('the host ends while the database is away'))
      kept = []
    },
  }
}
