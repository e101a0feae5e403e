/**
 * Background work: jobs in the database, which any host of a deployment takes. A job is only a hint that a
 * record needs attention. The record itself determines the work (`JobHandler`). A lost, duplicate or late job
 * is therefore harmless: due work is looked for every two seconds.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { DrizzleQueryError } from 'drizzle-orm'
import type { JobWithMetadata, PgBoss, Queue } from 'pg-boss'
import type { Database, Db } from '../../../database/database.ts'
import { idle } from '../../../database/exclusive-work.ts'
import {
  catchUpClock,
  inTransaction,
  openJobs,
  POLICY,
  startedJobs,
} from '../../../database/jobs.ts'
import { preparing } from '../../../database/prepared.ts'
import { isDatabaseUnavailable } from '../../../database/unavailable.ts'
import type { CoreContext } from '../context/context.ts'
import type { Pace } from '../context/pace.ts'
import type { SendJob } from '../context/send.ts'
import { jobProblem } from '../jobs/list.ts'
import { DEAD, QUEUE_NAMES, QUEUES, type QueueName, type QueueRow } from '../jobs/queues.ts'
import { keptText } from '../kept-text.ts'
import { type JobHandler, workOn } from './turn.ts'

export type BackgroundWork = {
  send: SendJob
  /** Starts on a database. Called for each one that the host connects to, before any request is served. */
  start(database: Database): Promise<void>
  /** Aborts the calls of running jobs and waits for the jobs. */
  stop(): Promise<void>
}

type WorkDeps = {
  handlers: Record<QueueName, JobHandler>
  /** Resolves when connectors can be called. Jobs wait for it. */
  parts: Promise<CoreContext>
  pace: Pick<Pace, 'lookMs'>
  /** Number of days that an ended job is kept. */
  keptDays: number
  onError(error: unknown): void
}

const DAY_SECONDS = 86_400
/**
 * Time without a heartbeat after which a host has lost its jobs, in seconds. The minimum of pg-boss is 10.
 */
const HEARTBEAT_SECONDS = 15
/** Age at which a started job that no host works on is considered abandoned by a dead host, in seconds. */
const LEFT_SECONDS = 3
/** Number of looks for due work between two looks for times that a clock which was set back has left. */
const LOOKS_PER_CLOCK = 30
/** Maximum number of abandoned jobs that one host continues at once. */
const MAX_ADOPTED_JOBS = 4
/** Maximum time that a stop waits for running jobs, in milliseconds. */
const STOP_MS = 10_000

/** Queues whose keys are worked on under a lock, which shows whether any host works on a key. */
const WITH_TURNS = QUEUE_NAMES.filter((name) => QUEUES[name].lease === 'turn')

/** Maximum length of a stored failure message, in characters. */
const MAX_WORDS = 2000

type DeadJob = { queue: QueueName; key: string }

/** Creates the background work of a host. */
export function createWork({ handlers, parts, pace, keptDays, onError }: WorkDeps): BackgroundWork {
  let boss: PgBoss | null = null
  let timer: NodeJS.Timeout | null = null
  const running = new Set<Promise<void>>()
  let looking: Promise<void> = Promise.resolve()
  let looks = 0
  /** Keys of jobs that other hosts abandoned and this host continues. */
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
    // A handler replaces this if it knows a more exact cause.
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
          // A free slot looks for waiting jobs at once. One notified worker is enough; the others poll again
          // soon.
          await work(db, name, job.data.key, job.signal).finally(() => jobs.notifyWorker(first))
        },
      )
    }
    const bury = async ([job]: JobWithMetadata<DeadJob>[]) => {
      if (!job) return
      const { queue, key } = job.data
      const whole = await parts
      const problem = jobProblem(job.sourceOutput) ?? 'it ended without an error message'
      await handlers[queue].gaveUp(db, key, problem, whole)
      whole.tell('error', { queue, key }, 'a job failed permanently; `keyway jobs` shows why')
    }
    const options = { includeMetadata: true, notifyPollingIntervalSeconds: 5 } as const
    // One after the other, without the pause between polls: a common fault fails many jobs at once.
    const last: string = await jobs.work<DeadJob, void, typeof options>(DEAD, options, (found) =>
      bury(found).finally(() => jobs.notifyWorker(last)),
    )
    look(db, preparing(db))
  }

  /**
   * Looks for due work repeatedly until the stop. An unreachable database is not reported each time. `asked`
   * is the same database with prepared statements.
   */
  function look(db: Db, asked: Db): void {
    timer = setTimeout(() => {
      looking = lookOnce(db, asked)
        .catch((error) => {
          if (!isDatabaseUnavailable(error)) onError(error)
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
        // A kind of work whose query fails must not stop the others.
        if (isDatabaseUnavailable(error)) throw error
        onError(error)
      })
    await takeOver(db, asked)
    if (looks % LOOKS_PER_CLOCK === 0) await catchUpClock(db)
    looks += 1
  }

  async function lookFor(db: Db, asked: Db, name: QueueName): Promise<void> {
    const keys = await handlers[name].due(asked)
    for (const key of keys) await send(db, name, key)
  }

  /**
   * Continues jobs of a killed host. They count as running until pg-boss detects the loss, but the locks that
   * they held are released at once.
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
      if (!free.has(turn) || taken.has(id) || taken.size >= MAX_ADOPTED_JOBS) continue
      const end = work(db, queue, key)
        .catch((error) => {
          if (!isDatabaseUnavailable(error) && !stopping.signal.aborted) onError(error)
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
        if (!isDatabaseUnavailable(error)) onError(error)
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
      // Their calls are aborted. Another host soon takes any job that does not end.
      await Promise.race([Promise.allSettled(running), pause(STOP_MS, undefined, { ref: false })])
      await boss?.stop({ graceful: false })
    },
  }
}

/** Rethrows a failure with its message only: a failed query would include its values. */
function inWords(error: unknown): never {
  const told = error instanceof DrizzleQueryError ? error.cause : error
  throw new Error(keptText(told instanceof Error ? told.message : String(told), MAX_WORDS))
}

/** Creates missing queues, and updates those whose options have changed. */
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
  // First, because the other queues refer to it.
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
