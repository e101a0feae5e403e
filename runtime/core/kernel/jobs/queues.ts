/** What is done in the background: one row per kind of job. */

import { keysOf } from '../../../contract/schema/keys.ts'
import type { BackOff } from './tries.ts'

export type QueueRow = {
  /** As text, for readers of what failed. */
  what: string
  /** How many jobs of this kind one host does at once. */
  concurrency: number
  /** How many of them may be of one app, so that a slow one leaves room for the others; null for all. */
  perApp: number | null
  /**
   * How often a job that threw is tried again: a defect of ours, or a database that is away. What a system refuses is
   * no failure of the job; the record says when it is tried again (tries.ts).
   */
  retries: number
  /** The pauses before that; they double. */
  pauses: BackOff
  /** A job that takes longer is taken for lost and done again, in milliseconds. */
  deadlineMs: number
  /**
   * What keeps two hosts from working on one key, beside pg-boss. `turn`: a lock of the database, which is free at once
   * when its host dies (turn.ts). `record`: the record is locked, or each write names what it was before, so that
   * the slower host writes nothing; what a dead host has left is done again once the host is missed.
   */
  lease: 'turn' | 'record'
  /** What happens once a job has failed for good. */
  end: string
}

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const PAUSES: BackOff = { firstMs: 2 * SECOND_MS, longestMs: 5 * MINUTE_MS }
const usual = { perApp: null, pauses: PAUSES } as const

/**
 * QUEUES: name -> how its jobs are done. Of each key at most one job waits and one runs, whatever the number of hosts;
 * a job tells what to look at, never what to do: it may run twice, late, or when nothing is left to do.
 */
export const QUEUES = {
  'access-requests': {
    what: 'carrying out an access request',
    concurrency: 8,
    perApp: 3,
    // Of a job that threw: what a system refuses is tried again by TRIES.
    retries: 8,
    pauses: PAUSES,
    deadlineMs: 15 * MINUTE_MS,
    lease: 'turn',
    end: 'people get a task for each request; it is tried every hour',
  },
  'event-feeds': {
    what: 'delivering the activity log to a webhook',
    concurrency: 4,
    ...usual,
    retries: 2,
    deadlineMs: 5 * MINUTE_MS,
    lease: 'record',
    end: 'the feed is due still, and is found again',
  },
  'mail-feeds': {
    what: 'finding mail in the activity log',
    concurrency: 1,
    ...usual,
    retries: 2,
    deadlineMs: 5 * MINUTE_MS,
    lease: 'record',
    end: 'the log is read on from where it was, and is due still',
  },
  mails: {
    what: 'sending the mail of a person',
    concurrency: 4,
    ...usual,
    retries: 2,
    deadlineMs: 15 * MINUTE_MS,
    lease: 'record',
    end: 'the mail is due still, and is found again',
  },
  uploads: {
    what: 'working through an upload',
    concurrency: 2,
    ...usual,
    retries: 4,
    deadlineMs: 15 * MINUTE_MS,
    lease: 'record',
    end: 'the upload has failed, and nothing of it is kept',
  },
  'token-renewals': {
    what: 'renewing the access token of an app',
    concurrency: 4,
    ...usual,
    retries: 2,
    deadlineMs: 5 * MINUTE_MS,
    lease: 'record',
    end: 'the renewal is due still, and is found again',
  },
  'access-policies': {
    what: 'comparing people with access policies',
    concurrency: 2,
    ...usual,
    retries: 8,
    deadlineMs: 6 * HOUR_MS,
    lease: 'turn',
    end: 'the admins get a task for the policy; what is due is found again',
  },
  offboardings: {
    what: 'offboarding a user',
    concurrency: 2,
    ...usual,
    retries: 8,
    deadlineMs: 15 * MINUTE_MS,
    lease: 'turn',
    end: 'the offboarding has failed, and the admins get a task',
  },
  'access-reviews': {
    what: 'carrying an access review on',
    concurrency: 2,
    ...usual,
    retries: 8,
    deadlineMs: HOUR_MS,
    lease: 'turn',
    end: 'the admins get a task; it is tried every hour',
  },
  findings: {
    what: 'looking for findings',
    concurrency: 1,
    ...usual,
    retries: 2,
    deadlineMs: HOUR_MS,
    lease: 'turn',
    end: 'it is looked at again when something changes, and within a day',
  },
  syncs: {
    what: 'syncing an app',
    concurrency: 2,
    perApp: null,
    // What fails is in the run, with pauses of its own: a job is lost only with its host, as often as that is.
    retries: 1000,
    pauses: { firstMs: 2 * SECOND_MS, longestMs: 5 * SECOND_MS },
    // A turn ends after a minute (core/sync/job.ts); a single statement may take ten.
    deadlineMs: 30 * MINUTE_MS,
    lease: 'turn',
    end: 'the run is due still, and is found again',
  },
  retention: {
    what: 'removing what is not kept any more',
    concurrency: 1,
    ...usual,
    retries: 2,
    deadlineMs: 30 * MINUTE_MS,
    lease: 'turn',
    end: 'it is begun again within the hour',
  },
} as const satisfies Record<string, QueueRow>

export type QueueName = keyof typeof QUEUES
export const QUEUE_NAMES = keysOf(QUEUES)

/** Where jobs go that failed for good. */
export const DEAD = 'dead'
