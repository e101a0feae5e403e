/**
 * Keeps this host at the newest generation. The database notifies it; it also polls every two seconds in case
 * a notification is lost. A skipped generation does not matter, because each is complete.
 */
import { randomUUID } from 'node:crypto'
import type { InstalledConnector } from '../../contract/endpoints/generation.ts'
import type { Db } from '../../database/database.ts'
import {
  CHANNEL,
  type NumberedStatement,
  newest,
  newestNumber,
  stateDigest,
} from './generations.ts'
import { reportGone, reportSeen } from './nodes.ts'

/** Interval of polls, in milliseconds. */
const POLL_MS = 2000
/** Maximum pause before a failed part is retried, in milliseconds. The first pause is one poll. */
const MAX_PAUSE_MS = 300_000

type FollowDeps = {
  /** Null until the database is available. */
  db(): Db | null
  domainId(): string
  /** Ids of the host's secrets, newest first. Other hosts compare them with their own. */
  keyIds: readonly string[]
  /** Calls back for every message on a channel. The returned function stops it. */
  listen(channel: string, hear: () => void): () => Promise<void>
  /** Applies a generation. @returns the problems, as text */
  apply(stated: NumberedStatement): Promise<string[]>
  onError(error: unknown): void
}

export type Follower = {
  /** Number of the served generation. */
  generation(): number
  /** Applies the newest generation now. Resolves when it is served. */
  catchUp(): Promise<void>
  stop(): Promise<void>
}

/** Starts following. `served` is what this host already serves. */
export function follow(deps: FollowDeps, served: NumberedStatement): Follower {
  const id = randomUUID()
  let current = served
  let problems: string[] = []
  let pauseMs = POLL_MS
  let triedMs = 0
  let stopping = false
  let running: Promise<void> | null = null
  let again = false
  let timer: NodeJS.Timeout | null = null

  async function step(db: Db): Promise<void> {
    const domainId = deps.domainId()
    const isNew = (await newestNumber(db, domainId)) !== current.number
    // Retry what failed, since the database may have gone away in the middle. Retry less and less often,
    // since a broken package stays broken.
    const isDue = problems.length > 0 && performance.now() - triedMs >= pauseMs
    if (isNew || isDue) {
      const states = Object.values(current.statement.connectors)
      const known = new Map(
        states.map((one): [string, InstalledConnector] => [stateDigest(one), one]),
      )
      const next = await newest(db, domainId, known)
      pauseMs = isNew ? POLL_MS : Math.min(2 * pauseMs, MAX_PAUSE_MS)
      problems = await deps.apply(next)
      triedMs = performance.now()
      current = next
    }
    await reportSeen(db, domainId, {
      id,
      generation: current.number,
      problems,
      keyIds: [...deps.keyIds],
    })
  }

  async function run(): Promise<void> {
    do {
      again = false
      const db = deps.db()
      if (!db) return
      try {
        await step(db)
      } catch (error) {
        if (!stopping) deps.onError(error)
        return
      }
    } while (again && !stopping)
  }

  /** Runs one update at a time. Calls during one lead to another round. */
  function wake(): Promise<void> {
    if (running !== null) {
      again = true
      return running
    }
    running = run().finally(() => {
      running = null
    })
    return running
  }

  function poll(): void {
    timer = setTimeout(() => {
      void wake().finally(() => {
        if (!stopping) poll()
      })
    }, POLL_MS)
    timer.unref()
  }

  const deafen = deps.listen(CHANNEL, () => void wake())
  void wake()
  poll()
  return {
    generation: () => current.number,
    catchUp: wake,
    async stop() {
      stopping = true
      if (timer) clearTimeout(timer)
      await deafen()
      await running
      const db = deps.db()
      // If the host cannot report its end, the others notice a little later that it has ended.
      if (db) await reportGone(db, id).catch(() => undefined)
    },
  }
}
