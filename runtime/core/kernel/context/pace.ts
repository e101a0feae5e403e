/** How long the background pauses and waits, and pages are waited for: in one place, so that who waits can have it shorter. */

export type Pace = {
  /** How often what is due is looked for, in milliseconds. */
  lookMs: number
  /** How long a host goes on with one sync before others get their turn, in milliseconds. */
  turnMs: number
  /** How often the lease of a sync is renewed, in milliseconds; it lasts fifteen seconds. */
  renewMs: number
  /** Shortest time that a system is given to show what was written, in milliseconds. */
  consistencyMs: number
  /** How long the answer of a webhook may take, names and connection included, in milliseconds. */
  answerMs: number
  /** How long a page that is read is waited for, in milliseconds. */
  pageMs: number
  /** The same of a form that was sent, and of a file: they may ask other systems, and read much. */
  formMs: number
  /** How long what a program reads is waited for, in milliseconds: until then a question may walk all rows. */
  readMs: number
}

/** The pace of a deployment. */
const PACE: Pace = {
  lookMs: 2000,
  turnMs: 60_000,
  renewMs: 4000,
  consistencyMs: 2000,
  answerMs: 15_000,
  pageMs: 30_000,
  formMs: 120_000,
  readMs: 120_000,
}

/** The pace of a deployment, but for what is given. */
export const paceOf = (given: Partial<Pace> = {}): Pace => ({ ...PACE, ...given })
