/**
 * Shares one answer among equal questions that are asked at the same time, within a host and among hosts that
 * share a database. Answers are JSON values. It is for questions that must not be asked twice: a second use
 * of a rotating refresh token ends the grant.
 *
 * Without the database, each host asks by itself.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { and, eq, isNull, lt, sql } from 'drizzle-orm'
import { createCache } from '../../bounded/cache.ts'
import { CACHES } from '../../bounded/caches.ts'
import type { Db } from '../../database/database.ts'
import { sharedAnswers } from '../../database/schema/deployment.ts'
import type { Sealer } from '../../secrets/seal.ts'

type SingleFlight = <T>(key: string, find: () => Promise<T>) => Promise<T>

type SingleFlightDeps = {
  db(): Db | null
  /** Seals answers, which are secret, for the database. They stay there only while they are valid. */
  sealer: Sealer
  onError(error: unknown): void
}

/**
 * Maximum time that other hosts wait for the host that is finding an answer, in seconds: the maximum duration
 * of a call.
 */
const FINDING_SECONDS = 120
/** Validity of an answer for later callers, in seconds. */
const GOOD_SECONDS = CACHES.shared_answers.goodMs / 1000
/** Poll interval of waiting hosts, in milliseconds. */
const LOOK_MS = 50

/**
 * Creates the function. `key` is a digest of the question. An error of `find` is thrown to every caller that
 * waits in this host.
 */
export function createSingleFlight({ db, sealer, onError }: SingleFlightDeps): SingleFlight {
  const underWay = new Map<string, Promise<unknown>>()
  /**
   * Valid answers as JSON text: an answer of many small objects would take ten times the memory of its text.
   */
  const answers = createCache<string>('shared_answers', { bytesOf: (json) => 2 * json.length })

  return async <T>(key: string, find: () => Promise<T>): Promise<T> => {
    const known = answers.get(key)
    if (known !== undefined) return JSON.parse(known)
    const asked = underWay.get(key)
    // The cast is safe: a key is a digest of the question, so its answer has the same type.
    if (asked !== undefined) return asked as Promise<T>
    const made = among(key, find).then((found) => {
      answers.set(key, JSON.stringify(found))
      return found
    })
    underWay.set(key, made)
    return made.finally(() => underWay.delete(key))
  }

  async function among<T>(key: string, find: () => Promise<T>): Promise<T> {
    for (;;) {
      const turn = await takeTurn(key)
      if (turn === null) return find()
      if ('sealed' in turn) return JSON.parse(sealer.open(turn.sealed, Buffer.from(key)))
      if ('finder' in turn) return findFor(key, turn.finder, find)
      await pause(LOOK_MS)
    }
  }

  /**
   * Claims the question for this host. Returns `finder` if this host is to find the answer, `wait` if another
   * host is finding it, `sealed` if it is known, and null without a database.
   */
  async function takeTurn(key: string) {
    const open = db()
    if (!open) return null
    try {
      await open.delete(sharedAnswers).where(lt(sharedAnswers.until, sql`now()`))
      const finder = randomUUID()
      const until = sql`now() + make_interval(secs => ${FINDING_SECONDS})`
      const mine = await open
        .insert(sharedAnswers)
        .values({ key, finder, until })
        .onConflictDoNothing()
        .returning({ key: sharedAnswers.key })
      if (mine.length > 0) return { finder }
      const [row] = await open.select().from(sharedAnswers).where(eq(sharedAnswers.key, key))
      return row?.answer ? { sealed: row.answer } : { wait: true }
    } catch (error) {
      onError(error)
      return null
    }
  }

  async function findFor<T>(key: string, finder: string, find: () => Promise<T>): Promise<T> {
    const own = and(eq(sharedAnswers.key, key), eq(sharedAnswers.finder, finder))
    try {
      const found = await find()
      const answer = sealer.seal(JSON.stringify(found), Buffer.from(key))
      const until = sql`now() + make_interval(secs => ${GOOD_SECONDS})`
      await db()?.update(sharedAnswers).set({ answer, until }).where(own).catch(onError)
      return found
    } catch (error) {
      // Let other hosts try.
      await db()
        ?.delete(sharedAnswers)
        .where(and(own, isNull(sharedAnswers.answer)))
        .catch(onError)
      throw error
    }
  }
}
