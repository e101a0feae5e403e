/** Kinds of mail -> subject, recipients, and whether a digest may contain it. */
import { keysOf } from '../schema/keys.ts'

type MailKindRow = {
  what: string
  who: string
  /** False: sent at once regardless of the person's choice, unless that is none. */
  digest: boolean
}

/** A kind that a digest may contain. */
const joining = (what: string, who: string) => ({ what, who, digest: true }) as const

export const MAIL_KINDS = {
  waits: joining(
    'something waits for you: a task was opened for you or assigned to you (a decision, manual work, a failure), or a person reminded you',
    'its assignees, including members of groups',
  ),
  decided: joining(
    'a request was approved, denied, cancelled, or expired undecided',
    'the requester and the target user, except the person who cancelled it',
  ),
  given: joining('requested access was granted', 'the requester and the holder'),
  revoked: joining('an admin revoked access before its end', 'the holder and the requester'),
  ends: joining(
    'access ends soon: sent when a fifth of its time is left, at most a week before; not for access of less than a day',
    'the holder',
  ),
  review_reminder: joining('an access review has open lines', 'their reviewers'),
  sync_failed: joining(
    'the sync of an app failed',
    'the admins of the app; if it has none, all admins',
  ),
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
