/** Retries of failed work: the pause before each, when people are told, and whether the retries end. */

export type RetrySchedule = BackOff & {
  /** Description of the failed work, for readers of the reference. */
  what: string
  /** Number of consecutive failures, or time since the first, after which people get a task. */
  tellAfter?: number
  tellAfterMs?: number
  /**
   * Number of consecutive failures, or time since the first, after which retries end. Without both, they
   * never end.
   */
  endAfter?: number
  endAfterMs?: number
  /** The same only for grants, which are left to people then: retries of a revocation never end. */
  endGrantsAfterMs?: number
  /** Tasks that people get, and the outcome at the end. */
  afterwards: string
}

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS: number = 24 * HOUR_MS

const ONLY_GRANTS_END = {
  endGrantsAfterMs: 7 * DAY_MS,
  afterwards:
    'people get a task and retries continue; only a grant is given up, after a week, and left to people',
}

/**
 * Kind of failed work -> its retries. The number of failures and the time of the next try are columns of the
 * record that failed, written in the transaction that stores the failure. Pauses double from `firstMs` to
 * `longestMs`.
 */
export const RETRY_SCHEDULES = {
  system: {
    what: 'granting, revoking or closing: the system does not answer',
    ...{ firstMs: 2 * SECOND_MS, longestMs: 10 * MINUTE_MS },
    // The app's admins get one task for its outage. A request gets its own task only if it fails on its own.
    tellAfter: 25,
    ...ONLY_GRANTS_END,
  },
  call: {
    what: 'granting, revoking or closing: one call fails',
    ...{ firstMs: 2 * SECOND_MS, longestMs: HOUR_MS },
    tellAfter: 6,
    ...ONLY_GRANTS_END,
  },
  refused: {
    what: 'granting, revoking or closing: the system refuses',
    ...{ firstMs: MINUTE_MS, longestMs: HOUR_MS },
    tellAfter: 1,
    ...ONLY_GRANTS_END,
  },
  outage: {
    what: 'checking whether the system of an app answers again',
    ...{ firstMs: 2 * SECOND_MS, longestMs: MINUTE_MS },
    tellAfterMs: 10 * MINUTE_MS,
    afterwards: 'the admins of the app get a task; retries continue',
  },
  credentials: {
    what: 'calling the system of an app that refuses the credentials',
    // Directories lock an account after a few wrong passwords within half an hour. These pauses make three
    // tries.
    ...{ firstMs: 5 * MINUTE_MS, longestMs: 30 * MINUTE_MS },
    tellAfter: 1,
    afterwards:
      'the admins of the app get a task; retries continue; reconnecting the app, a renewed token and “retry” on the task call it at once',
  },
  sync: {
    what: 'a step of a sync',
    ...{ firstMs: 5 * SECOND_MS, longestMs: 10 * MINUTE_MS },
    endAfter: 8,
    // A run waits while its app is paused. Those failures are not counted.
    endAfterMs: 7 * DAY_MS,
    afterwards:
      'the run fails and the admins of the app get a task; the next run follows the schedule',
  },
  'event-feed': {
    what: 'sending the activity log to a webhook',
    ...{ firstMs: 5 * SECOND_MS, longestMs: 15 * MINUTE_MS },
    tellAfterMs: DAY_MS,
    afterwards: 'the admins get a task; sending continues where it stopped',
  },
  'token-renewal': {
    what: 'renewing the access token of an app',
    ...{ firstMs: 15 * SECOND_MS, longestMs: 30 * MINUTE_MS },
    // About 15 minutes, and two days.
    tellAfter: 7,
    endAfter: 100,
    afterwards: 'the admins get a task; after the last try the app has to be reconnected',
  },
  mail: {
    what: 'sending a mail',
    ...{ firstMs: MINUTE_MS, longestMs: HOUR_MS },
    endAfterMs: 3 * DAY_MS,
    afterwards:
      'the mail is marked as refused; `keyway mail show` lists it with the server’s answer',
  },
  'changed-user': {
    what: 'evaluating the access policies for a user',
    ...{ firstMs: 10 * SECOND_MS, longestMs: HOUR_MS },
    tellAfter: 6,
    afterwards: 'the admins get a task; retries continue',
  },
  defect: {
    what: 'a job that failed permanently while its record is still due',
    ...{ firstMs: HOUR_MS, longestMs: HOUR_MS },
    tellAfter: 1,
    afterwards: 'people get a task; retries continue',
  },
} as const satisfies Record<string, RetrySchedule>

/** Returns the pause after a number of consecutive failures, in milliseconds. */
export const pauseMs = (name: keyof typeof RETRY_SCHEDULES, failures: number): number =>
  backOffMs(failures, RETRY_SCHEDULES[name])

/** Back-off of all background work: the pause doubles with each try, up to a maximum. */
export type BackOff = { firstMs: number; longestMs: number }

const backOffMs = (failures: number, { firstMs, longestMs }: BackOff): number =>
  Math.min(firstMs * 2 ** Math.min(Math.max(failures - 1, 0), 30), longestMs)

/** Returns the time `ms` milliseconds after `now`. */
export const later = (now: Date, ms: number): Date => new Date(now.getTime() + ms)
