/**
 * Log entries for features that work without the database. They are written at once if it is reachable,
 * otherwise when it is back. Until then they wait in memory: a host that ends first loses them and reports
 * that in its own log. Each is written once, even if the connection breaks at commit: before a second
 * attempt, the entry is looked up by its id.
 */
import { randomUUID } from 'node:crypto'
import { isContended } from '../../../database/contention.ts'
import type { Beginning, Db } from '../../../database/database.ts'
import { lockTextUntilEnd } from '../../../database/locks.ts'
import type { DatabaseService } from '../../../database/service.ts'
import { isDatabaseUnavailable } from '../../../database/unavailable.ts'
import { isRecorded, lastChained } from './unchained-entries.ts'

type Writing = {
  domainId: string
  /** Metadata: the entry's id and, if it is written later, the time of the event by the host's clock. */
  happened: { entry_id: string; happened_at?: string }
}

/** An entry whose write is not confirmed. */
type Unsettled = {
  entry: LateEntry
  happened: Writing['happened']
  /**
   * Number of the last chained row before the first attempt that reached its commit. If that commit
   * succeeded, the entry follows it.
   */
  behind: string | null
}

/** Writes one entry. */
type LateEntry = (tx: Db, writing: Writing) => Promise<void>

export type LateEntries = {
  /** Writes an entry. Resolves when it is written or queued, and never rejects. */
  write(entry: LateEntry): Promise<void>
  /** Tries to write the queued entries a last time, and ends. */
  stop(): Promise<void>
}

type LateDeps = {
  /** Null if the host has no database: nothing is written then. */
  database: Pick<DatabaseService, 'db' | 'domainId'> | null
  /** Called for each entry that is lost. */
  onLost(error: unknown): void
}

/** Maximum number of queued entries. */
const MAX_QUEUED = 1000
/** Interval between checks whether the database is back, in milliseconds. */
const EVERY_MS = 1000

/** Settings of an attempt, which waits up to a second for an earlier one whose outcome is unknown. */
const PATIENT: Beginning = { settings: { lock_timeout: '1000' }, once: true }

/** Writes an entry, unless an earlier attempt whose connection broke at commit has written it. */
async function writeOnce(tx: Db, domainId: string, one: Unsettled): Promise<void> {
  const { entry, happened, behind } = one
  // The server holds this lock until the commit is over, even if the connection is lost.
  await tx.execute(lockTextUntilEnd(happened.entry_id))
  if (behind !== null && (await isRecorded(tx, domainId, happened.entry_id, behind))) return
  const last = behind ?? (await lastChained(tx, domainId))
  await entry(tx, { domainId, happened })
  one.behind = last
}

/** Creates an empty queue of late entries. */
export function createLateEntries({ database, onLost }: LateDeps): LateEntries {
  let kept: Unsettled[] = []
  let timer: NodeJS.Timeout | null = null
  let flushing: Promise<void> | null = null

  /**
   * Tries to write an entry. Returns true if it is settled, written or lost, and false if the database is
   * unreachable.
   */
  async function attempt(one: Unsettled): Promise<boolean> {
    const [db, domainId] = [database?.db(), database?.domainId()]
    if (!db || !domainId) return database === null
    try {
      await db.transaction((tx) => writeOnce(tx, domainId, one), PATIENT)
    } catch (error) {
      if (isDatabaseUnavailable(error) || isContended(error)) return false
      onLost(error)
    }
    return true
  }

  /** Writes the queued entries, oldest first. One flush at a time: two would write the first entry twice. */
  function flush(): Promise<void> {
    flushing ??= writeKept().finally(() => {
      flushing = null
    })
    return flushing
  }

  async function writeKept(): Promise<void> {
    for (;;) {
      const [first] = kept
      if (!first || !(await attempt(first))) return
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
      const happened = { entry_id: randomUUID() }
      const one: Unsettled = { entry, happened, behind: null }
      const happenedAt = new Date().toISOString()
      // Queue it after waiting entries: the log keeps the order of events.
      if (kept.length === 0 && (await attempt(one))) return
      if (kept.length >= MAX_QUEUED)
        return onLost(new Error('too many entries are waiting for the database'))
      kept = [...kept, { ...one, happened: { ...happened, happened_at: happenedAt } }]
      later()
    },
    async stop() {
      if (timer) clearTimeout(timer)
      await flush()
      for (const _ of kept)
        onLost(new Error('the host is stopping while the database is unavailable'))
      kept = []
    },
  }
}
