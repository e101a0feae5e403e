/** What is done in the background: one row per kind of job. */

import { keysOf } from '../../../contract/schema/keys.ts'

export type QueueRow = {
  /** As text, for readers of what failed. */
  what: string
  /** How many jobs of this kind one host does at once. */
  concurrency: number
  /** How many of them may be of one app, so that a slow one leaves room for the others; null for all. */
  perApp: number | null
  /** How often a job that threw is tried again, with growing pauses. */
  retries: number
  /** The longest of those pauses, in seconds; default: five minutes. */
  longestRetrySeconds?: number
  /** A job that takes longer is taken for lost and done again, in seconds. */
  expireSeconds: number
}

/**
 * QUEUES: name -> how its jobs are done. Of each key at most one job waits and one runs, whatever the number of hosts;
 * a job tells what to look at, never what to do: it may run twice, late, or when nothing is left to do.
 */
export const QUEUES = {
  'access-requests': {
    what: 'carrying out an access request',
    concurrency: 8,
    perApp: 3,
    retries: 8,
    expireSeconds: 900,
  },
  'event-feeds': {
    what: 'delivering the activity log to a webhook',
    concurrency: 4,
    perApp: null,
    retries: 2,
    expireSeconds: 300,
  },
  uploads: {
    what: 'working through an upload',
    concurrency: 2,
    perApp: null,
    retries: 4,
    expireSeconds: 900,
  },
  'token-renewals': {
    what: 'renewing the access token of an app',
    concurrency: 4,
    perApp: null,
    retries: 2,
    expireSeconds: 300,
  },
  'access-policies': {
    what: 'comparing people with access policies',
    concurrency: 2,
    perApp: null,
    retries: 8,
    expireSeconds: 21_600,
  },
  offboardings: {
    what: 'offboarding a user',
    concurrency: 2,
    perApp: null,
    retries: 8,
    expireSeconds: 900,
  },
  'access-reviews': {
    what: 'carrying an access review on',
    concurrency: 2,
    perApp: null,
    retries: 8,
    expireSeconds: 3600,
  },
  syncs: {
    what: 'syncing an app',
    concurrency: 2,
    perApp: null,
    // What fails is in the run, with pauses of its own: a job is lost only with its host, as often as that is.
    retries: 1000,
    longestRetrySeconds: 5,
    // A turn ends after a minute (core/sync/job.ts); a single statement may take ten.
    expireSeconds: 1800,
  },
  retention: {
    what: 'removing what is not kept any more',
    concurrency: 1,
    perApp: null,
    retries: 2,
    expireSeconds: 1800,
  },
} as const satisfies Record<string, QueueRow>

export type QueueName = keyof typeof QUEUES
export const QUEUE_NAMES = keysOf(QUEUES)

/** Where jobs go that failed for good. */
export const DEAD = 'dead'
