/** MAIL_OF_EVENT: type of an activity log entry -> the mail that it creates. Pure. */
import type { ActivityEvent } from '../../contract/models/activity-event.ts'
import type { MailKind } from '../../contract/models/mail.ts'
import { SYNC_TASK } from '../../contract/models/sync.ts'
import { isKeyOf } from '../../contract/schema/keys.ts'
import { REQUEST_STATES } from '../requests/machine/states.ts'

type Entry = {
  eventType: string
  actor: Readonly<Record<string, unknown>>
  targets: readonly Record<string, unknown>[]
  metadata: Readonly<Record<string, unknown>>
}

/** `knownBy`: person who did it and gets no mail about it. */
export type MailSubject = { kind: MailKind; about: string; knownBy?: string }

const aboutOf = ({ targets }: Entry): string => {
  const id = targets[0]?.['id']
  return typeof id === 'string' ? id : ''
}

const mailOfKind =
  (kind: MailKind) =>
  (entry: Entry): MailSubject | null =>
    aboutOf(entry) === '' ? null : { kind, about: aboutOf(entry) }

/** Returns the mail about an opened task. A failed sync has a kind of its own. */
const opened = (entry: Entry): MailSubject | null =>
  mailOfKind(entry.targets[0]?.['name'] === SYNC_TASK ? 'sync_failed' : 'waits')(entry)

/** Returns the mail about an approval, or null if others still have to decide. */
const approved = (entry: Entry): MailSubject | null => {
  const status = entry.metadata['status']
  const row = Object.entries(REQUEST_STATES).find(([name]) => name === status)?.[1]
  return row?.standing === 'wanted' ? mailOfKind('decided')(entry) : null
}

/** Returns the mail about a cancellation. The person who cancelled gets none. */
const cancelled = (entry: Entry): MailSubject | null => {
  const subject = mailOfKind('decided')(entry)
  const by = entry.actor['id']
  return subject && typeof by === 'string' ? { ...subject, knownBy: by } : subject
}

const MAIL_OF_EVENT: Readonly<
  Partial<Record<ActivityEvent, (entry: Entry) => MailSubject | null>>
> = {
  TASK_OPENED: opened,
  TASK_REASSIGNED: opened,
  TASK_REMINDED: opened,
  APP_STORE_APPROVE_ACCESS_REQUEST: approved,
  APP_STORE_DENY_ACCESS_REQUEST: mailOfKind('decided'),
  APP_STORE_ACCESS_REQUEST_EXPIRED: mailOfKind('decided'),
  APP_STORE_CANCEL_ACCESS_REQUEST: cancelled,
  APP_STORE_MANUAL_DENY_PROVISIONING_FOR_ACCESS_REQUEST: mailOfKind('decided'),
  APP_STORE_AUTOMATIC_PROVISIONING_FOR_ACCESS_REQUEST: mailOfKind('given'),
  APP_STORE_INLINE_WEBHOOK_PROVISIONING_FOR_ACCESS_REQUEST: mailOfKind('given'),
  APP_STORE_MANUAL_CONFIRM_PROVISIONING_FOR_ACCESS_REQUEST: mailOfKind('given'),
  APP_STORE_REVOKE_ACCESS: mailOfKind('revoked'),
  ACCESS_REVIEW_REMINDED: mailOfKind('review_reminder'),
  CONNECTOR_QUARANTINED: mailOfKind('quarantined'),
}

/** Types of entries that create mail. */
export const MAILED_EVENTS: readonly string[] = Object.keys(MAIL_OF_EVENT)

/** Returns the mail of an entry, or null if it creates none. */
export const mailOfEvent = (entry: Entry): MailSubject | null =>
  isKeyOf(MAIL_OF_EVENT, entry.eventType) ? (MAIL_OF_EVENT[entry.eventType]?.(entry) ?? null) : null
