/** Kinds of mail -> subject, recipients, and whether a digest may contain it. */
import { keysOf } from '../schema/keys.ts'

type MailKindRow = {
  what: string
  who: string
  /** False: sent at once regardless of the person's choice, unless that is none. */
  digest: boolean
}

export const MAIL_KINDS = {
  waits: {
    what: 'something waits for you: a task was opened for you or assigned to you (a decision, manual work, a failure), or a person reminded you',
    who: 'its assignees, including members of groups',
    digest: true,
  },
  decided: {
    what: 'a request was approved, denied, cancelled, or expired undecided',
    who: 'the requester and the target user, except the person who cancelled it',
    digest: true,
  },
  given: {
    what: 'requested access was granted',
    who: 'the requester and the holder',
    digest: true,
  },
  revoked: {
    what: 'an admin revoked access before its end',
    who: 'the holder and the requester',
    digest: true,
  },
  ends: {
    what: 'access ends soon: sent when a fifth of its time is left, at most a week before; not for access of less than a day',
    who: 'the holder',
    digest: true,
  },
  review_reminder: {
    what: 'an access review has open lines',
    who: 'their reviewers',
    digest: true,
  },
  sync_failed: {
    what: 'the sync of an app failed',
    who: 'the admins of the app; if it has none, all admins',
    digest: true,
  },
  quarantined: {
    what: 'a connector was put in quarantine',
    who: 'all admins',
    digest: false,
  },
} as const satisfies Record<string, MailKindRow>

export type MailKind = keyof typeof MAIL_KINDS
export const MAIL_KIND_NAMES = keysOf(MAIL_KINDS)

/**
 * Outcomes of a mail. REFUSED: the server refused it for good, or attempts failed for days. DROPPED: there
 * was nothing left to report.
 */
export const MAIL_OUTCOMES = ['SENT', 'REFUSED', 'DROPPED'] as const
