/**
 * Background work: jobs in the database, which any host of a deployment takes. A job is only a word that
 * something wants to be looked at; what is to be done is read from the record (`JobHandler`). So a job that is
 * lost, doubled or late does no harm: what is due is looked for again every two seconds.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { DrizzleQueryError } from 'drizzle-orm'
import type { JobWithMetadata, PgBoss, Queue } from 'pg-boss'
import { idle } from '../../../database/alone.ts'
import { isAway } from '../../../database/away.ts'
import type { Database, Db } from '../../../database/database.ts'
import { inTransaction, openJobs, POLICY, startedJobs } from '../../../database/jobs.ts'
import { preparing } from '../../../database/prepared.ts'
import type { CoreContext } from '../context/context.ts'
import type { Pace } from '../context/pace.ts'
import type { SendJob } from '../context/send.ts'
import { jobProblem } from '../jobs/list.ts'
import { DEAD, QUEUE_NAMES, QUEUES, type QueueName, type QueueRow } from '../jobs/queues.ts'
import { keptText } from '../kept-text.ts'
import { type JobHandler, workOn } from './turn.ts'

export type BackgroundWork = {
  send: SendJob
  /** Called with each database that was reached, before anybody is served. */
  start(database: Database): Promise<void>
  /** Waits for jobs under way; their calls are aborted. */
  stop(): Promise<void>
}

type WorkDeps = {
  handlers: Record<QueueName, JobHandler>
  /** There once connectors can be called; jobs wait for it. */
  parts: Promise<CoreContext>
  pace: Pick<Pace, 'lookMs'>
  /** How many days a job is kept after it ended. */
  keptDays: number
  onError(error: unknown): void
}

const DAY_SECONDS = 86_400
/** A host that says nothing for so long has lost its jobs, in seconds; pg-boss takes no less than 10. */
const HEARTBEAT_SECONDS = 15
/** A job that was begun so long ago, and on which nobody works, was left by a host that is gone, in seconds. */
const LEFT_SECONDS = 3
/** How many of those one host goes on with at once. */
const MOST_TAKEN = 4
/** How long a stop waits for what runs, in milliseconds. */
const STOP_MS = 10_000

/** Queues whose keys are worked on under a lock, which tells whether anybody does. */
const WITH_TURNS = QUEUE_NAMES.filter((name) => QUEUES[name].lease === 'turn')

/** Longest words of a failure that are kept, in characters. */
const MAX_WORDS = 2000

type DeadJob = { queue: QueueName; key: string }

export function createWork({ handlers, parts, pace, keptDays, onError }: WorkDeps): BackgroundWork {
  let boss: PgBoss | null = null
  let timer: NodeJS.Timeout | null = null
  const running = new Set<Promise<void>>()
  let looking: Promise<void> = Promise.resolve()
  /** Keys of jobs that others have left, which this host goes on with. */
  const taken = new Map<string, Promise<void>>()
  const stopping = new AbortController()

  const opened = (): PgBoss => {
    if (!boss) throw new Error('background work has not been started')
    return boss
  }

  const send: SendJob = async (tx, queue, key) => {
    const data: DeadJob = { queue, key }
    const appId = handlers[queue].appOf?.(key)
    const options = { singletonKey: key, ...(appId ? { group: { id: appId } } : {}) }
    await opened().send(queue, data, { ...options, db: inTransaction(tx) })
  }

  async function work(db: Db, name: QueueName, key: string, ...signals: AbortSignal[]) {
    const signal = AbortSignal.any([stopping.signal, ...signals])
    // What a handler knows better, it says in place of this.
    const cause = { kind: 'job', id: `${name} ${key}` } as const
    const whole = { ...(await parts), requestId: randomUUID(), cause, signal }
    const done = workOn(handlers[name], db, key, whole).catch(inWords)
    running.add(done)
    await done.finally(() => running.delete(done))
  }

  async function begin(database: Database, jobs: PgBoss): Promise<void> {
    const { db } = database
    await prepareQueues(jobs, keptDays)
    for (const name of QUEUE_NAMES) {
      const first: string = await jobs.work<DeadJob>(
        name,
        { ...placesOf(name), notifyPollingIntervalSeconds: 5 },
        async ([job]) => {
          if (!job) return
          // What waits is looked for once a place is free: by one of those that rest, the others look again soon.
          await work(db, name, job.data.key, job.signal).finally(() => jobs.notifyWorker(first))
        },
      )
    }
    const bury = async ([job]: JobWithMetadata<DeadJob>[]) => {
      if (!job) return
      const { queue, key } = job.data
      const whole = await parts
      const problem = jobProblem(job.sourceOutput) ?? 'it ended without a word'
      await handlers[queue].gaveUp(db, key, problem, whole)
      whole.tell('error', { queue, key }, 'a job failed for good; `keyway jobs` says why')
    }
    await jobs.work<DeadJob, void, { includeMetadata: true }>(DEAD, { includeMetadata: true }, bury)
    look(db, preparing(db))
  }

  /** Again and again until the end; a database that is away is nothing to tell each time. `asked`: the same, prepared. */
  function look(db: Db, asked: Db): void {
    timer = setTimeout(() => {
      looking = lookOnce(db, asked)
        .catch((error) => {
          if (!isAway(error)) onError(error)
        })
        .then(() => {
          if (!stopping.signal.aborted) look(db, asked)
        })
    }, pace.lookMs)
    timer.unref()
  }

  async function lookOnce(db: Db, asked: Db): Promise<void> {
    for (const name of QUEUE_NAMES)
      await lookFor(db, asked, name).catch((error) => {
        // One kind of work that cannot be looked for must not stop the others.
        if (isAway(error)) throw error
        onError(error)
      })
    await takeOver(db, asked)
  }

  async function lookFor(db: Db, asked: Db, name: QueueName): Promise<void> {
    const keys = await handlers[name].due(asked)
    for (const key of keys) await send(db, name, key)
  }

  /**
   * Goes on with what a host has left that was killed: its jobs count as running until they are missed,
   * but the locks that it worked under are free at once.
   */
  async function takeOver(db: Db, asked: Db): Promise<void> {
    const begun = (await startedJobs(asked, WITH_TURNS, LEFT_SECONDS)).flatMap(({ queue, key }) => {
      const turn = handlers[queue].turnOf?.(key)
      return turn === undefined ? [] : [{ queue, key, turn }]
    })
    if (begun.length === 0) return
    const turns = begun.map(({ turn }) => turn)
    const free = new Set(await idle(db, turns))
    for (const { queue, key, turn } of begun) {
      const id = `${queue} ${key}`
      if (!free.has(turn) || taken.has(id) || taken.size >= MOST_TAKEN) continue
      const end = work(db, queue, key)
        .catch((error) => {
          if (!isAway(error) && !stopping.signal.aborted) onError(error)
        })
        .finally(() => taken.delete(id))
      taken.set(id, end)
    }
  }

  return {
    send,
    async start(database) {
      const jobs = openJobs(database)
      jobs.on('error', (error) => {
        if (!isAway(error)) onError(error)
      })
      try {
        await jobs.start()
        boss = jobs
        await begin(database, jobs)
      } catch (error) {
        boss = null
        await jobs.stop({ graceful: false })
        throw error
      }
    },
    async stop() {
      stopping.abort()
      if (timer) clearTimeout(timer)
      await looking
      // Their calls are aborted: those that do not end are soon taken by another host.
      await Promise.race([Promise.allSettled(running), pause(STOP_MS, undefined, { ref: false })])
      await boss?.stop({ graceful: false })
    },
  }
}

/** What is kept of a failure is its words: a failed question would bring its values along. */
function inWords(error: unknown): never {
  const told = error instanceof DrizzleQueryError ? error.cause : error
  throw new Error(keptText(told instanceof Error ? told.message : String(told), MAX_WORDS))
}

/** Makes the queues that are not there, and changes those that are kept otherwise. */
export async function prepareQueues(jobs: PgBoss, keptDays: number): Promise<void> {
  const there = new Map((await jobs.getQueues()).map((queue) => [queue.name, queue]))
  const kept = { notify: true, deleteAfterSeconds: keptDays * DAY_SECONDS }
  async function prepare(name: string, options: Partial<Queue>, policy?: typeof POLICY) {
    const found = there.get(name)
    if (found === undefined)
      await jobs.createQueue(name, { ...(policy ? { policy } : {}), ...options })
    else if (!isDeepStrictEqual({ ...found, ...options }, found))
      await jobs.updateQueue(name, options)
  }
  // The others name it.
  await prepare(DEAD, { retryLimit: 1000, retryDelay: 60, ...kept })
  for (const name of QUEUE_NAMES) await prepare(name, { ...optionsOf(name), ...kept }, POLICY)
}

function placesOf(name: QueueName) {
  const { concurrency, perApp } = QUEUES[name]
  return {
    localConcurrency: concurrency,
    ...(perApp === null ? {} : { localGroupConcurrency: perApp }),
  }
}

const optionsOf = (name: QueueName) => {
  const { retries, pauses, deadlineMs }: QueueRow = QUEUES[name]
  return {
    retryLimit: retries,
    retryDelay: pauses.firstMs / 1000,
    retryBackoff: true,
    retryDelayMax: pauses.longestMs / 1000,
    expireInSeconds: deadlineMs / 1000,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    deadLetter: DEAD,
  }
}
