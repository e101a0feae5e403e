/** MAIL_KINDS: every kind of mail -> what it is about, who gets it, and whether a digest may hold it. */
import { keysOf } from '../schema/keys.ts'

type MailKindRow = {
  what: string
  who: string
  /** False: it comes at once, whatever the person chose; unless that is none. */
  digest: boolean
}

export const MAIL_KINDS = {
  waits: {
    what: 'a task was opened, or given to you: to decide, to do by hand, to look at a failure; or a person who waits for your decision reminds you',
    who: 'those it is assigned to, members of groups too',
    digest: true,
  },
  decided: {
    what: 'a request was approved or denied, was cancelled, or has ended undecided',
    who: 'who asked, and who is to have it; not who cancelled it',
    digest: true,
  },
  given: {
    what: 'the access that was asked for is there',
    who: 'who asked, and who has it',
    digest: true,
  },
  revoked: {
    what: 'an admin revoked access before its time',
    who: 'who has it, and who asked for it',
    digest: true,
  },
  ends: {
    what: 'access ends soon: when a fifth of its time is left, a week at most; none for access of less than a day',
    who: 'who has it',
    digest: true,
  },
  review_reminder: {
    what: 'lines of an access review are still open',
    who: 'their reviewers',
    digest: true,
  },
  sync_failed: {
    what: 'the sync of an app failed',
    who: 'the admins of the app; where it has none, all admins',
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

/** How a mail ended. REFUSED: the server said so for good, or it was tried for days. DROPPED: there was nothing to say any more. */
export const MAIL_OUTCOMES = ['SENT', 'REFUSED', 'DROPPED'] as const
