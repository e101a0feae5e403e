/**
 * Keeps this host at the newest generation: notified by the database, and asking every two seconds in
 * case it was not. A generation that was missed does not matter, because each is whole.
 */
import { randomUUID } from 'node:crypto'
import type { InstalledConnector } from '../../contract/endpoints/generation.ts'
import type { Db } from '../../database/database.ts'
import { CHANNEL, newest, newestNumber, type Stated, stateDigest } from './generations.ts'
import { sayGone, saySeen } from './nodes.ts'

/** How often the database is asked, in milliseconds. */
const POLL_MS = 2000
/** Longest pause before what could not be taken over is tried again, in milliseconds; the first is a poll. */
const MAX_PAUSE_MS = 300_000

type FollowDeps = {
  /** Null until the database is there. */
  db(): Db | null
  domainId(): string
  /** Ids of the host's secrets, newest first: other hosts compare them with their own. */
  keyIds: readonly string[]
  /** Calls back for every word on a channel; the answer ends it. */
  listen(channel: string, hear: () => void): () => Promise<void>
  /** Takes a generation over; @returns what of it could not be, as text */
  apply(stated: Stated): Promise<string[]>
  onError(error: unknown): void
}

export type Follower = {
  /** The number of the generation that is served. */
  generation(): number
  /** Takes the newest one over now; resolves when it is served. */
  catchUp(): Promise<void>
  stop(): Promise<void>
}

/** Begins to follow; `served` is what this host serves already. */
export function follow(deps: FollowDeps, served: Stated): Follower {
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
    // What could not be taken over is tried again, because the database may have been away in the middle; ever
    // more seldom, because a package that is broken stays so.
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
    await saySeen(db, domainId, {
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

  /** One at a time; who asks meanwhile is answered by one more round. */
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
      // Who cannot say so is not heard of any more, which says the same a little later.
      if (db) await sayGone(db, id).catch(() => undefined)
    },
  }
}
