/** Kinds of background work: one row per kind of job. */

import { keysOf } from '../../../contract/schema/keys.ts'
import type { BackOff } from './retry-schedules.ts'

export type QueueRow = {
  /** Description of the work, for readers of failures. */
  what: string
  /** Maximum number of jobs of this kind that one host runs at once. */
  concurrency: number
  /** Maximum number of those for one app, so that a slow app leaves room for others, or null for no limit. */
  perApp: number | null
  /**
   * Maximum number of retries of a job that threw: a defect in Keyway, or an unreachable database. A refusal
   * by a connected system is not a failure of the job: the record states when it is retried (retry-schedules.ts).
   */
  retries: number
  /** Pauses before the retries. They double. */
  pauses: BackOff
  /** Maximum duration of a job, in milliseconds. A longer job is considered lost and run again. */
  deadlineMs: number
  /**
   * Second guard, after pg-boss, against two hosts working on one key. `turn`: a database lock, which is
   * released at once when its host dies (turn.ts). `record`: the record is locked, or each write is
   * conditional on the previous state, so that the slower host writes nothing. Work of a dead host is redone
   * after pg-boss detects the loss.
   */
  lease: 'turn' | 'record'
  /** Consequence of a final failure, as text. */
  end: string
}

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const PAUSES: BackOff = { firstMs: 2 * SECOND_MS, longestMs: 5 * MINUTE_MS }
const usual = { perApp: null, pauses: PAUSES, retries: 2 } as const
/** Short work that stays due in its record, and is picked up again. */
const due = { ...usual, deadlineMs: 5 * MINUTE_MS, lease: 'record' } as const

/**
 * Queue name -> how its jobs run. For each key, at most one job waits and one runs, across all hosts. A job
 * names what to look at, never what to do: it may run twice, late, or with nothing left to do.
 */
export const QUEUES = {
  'access-requests': {
    what: 'carrying out an access request',
    concurrency: 8,
    perApp: 3,
    // For a job that threw. Refusals by the connected system are retried by RETRY_SCHEDULES.
    retries: 8,
    pauses: PAUSES,
    deadlineMs: 15 * MINUTE_MS,
    lease: 'turn',
    end: 'people get a task for each request; it is retried every hour',
  },
  'event-feeds': {
    what: 'delivering the activity log to a webhook',
    concurrency: 4,
    ...due,
    end: 'the feed stays due and is picked up again',
  },
  'mail-feeds': {
    what: 'finding events to mail in the activity log',
    concurrency: 1,
    ...due,
    end: 'the log stays due and is read on from the same place',
  },
  mails: {
    what: 'sending the mail of a person',
    concurrency: 4,
    ...usual,
    deadlineMs: 15 * MINUTE_MS,
    lease: 'record',
    end: 'the mail stays due and is picked up again',
  },
  uploads: {
    what: 'processing an upload',
    concurrency: 2,
    ...usual,
    retries: 4,
    deadlineMs: 15 * MINUTE_MS,
    lease: 'record',
    end: 'the upload fails, and nothing of it is kept',
  },
  'token-renewals': {
    what: 'renewing the access token of an app',
    concurrency: 4,
    ...due,
    end: 'the renewal stays due and is picked up again',
  },
  'access-policies': {
    what: 'evaluating access policies for people',
    concurrency: 2,
    ...usual,
    retries: 8,
    deadlineMs: 6 * HOUR_MS,
    lease: 'turn',
    end: 'the admins get a task for the policy; due work is picked up again',
  },
  offboardings: {
    what: 'offboarding a user',
    concurrency: 2,
    ...usual,
    retries: 8,
    deadlineMs: 15 * MINUTE_MS,
    lease: 'turn',
    end: 'the offboarding fails, and the admins get a task',
  },
  'access-reviews': {
    what: 'advancing an access review',
    concurrency: 2,
    ...usual,
    retries: 8,
    deadlineMs: HOUR_MS,
    lease: 'turn',
    end: 'the admins get a task; it is retried every hour',
  },
  findings: {
    what: 'looking for findings',
    concurrency: 1,
    ...usual,
    deadlineMs: HOUR_MS,
    lease: 'turn',
    end: 'the check runs again when something changes, and within a day',
  },
  syncs: {
    what: 'syncing an app',
    concurrency: 2,
    perApp: null,
    // Failures are recorded in the run, which has its own pauses. A job is lost only with its host, so it is
    // retried without a practical limit.
    retries: 1000,
    pauses: { firstMs: 2 * SECOND_MS, longestMs: 5 * SECOND_MS },
    // A turn ends after a minute (core/sync/job.ts). A single statement may take ten.
    deadlineMs: 30 * MINUTE_MS,
    lease: 'turn',
    end: 'the run stays due and is picked up again',
  },
  retention: {
    what: 'removing expired rows',
    concurrency: 1,
    ...usual,
    deadlineMs: 30 * MINUTE_MS,
    lease: 'turn',
    end: 'it starts again within the hour',
  },
} as const satisfies Record<string, QueueRow>

export type QueueName = keyof typeof QUEUES
export const QUEUE_NAMES = keysOf(QUEUES)

/** Queue of jobs that failed for good. */
export const DEAD = 'dead'
