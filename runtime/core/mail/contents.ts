/**
 * MAIL_CONTENTS: kind of mail -> its content for a person, read when it is sent. Null if there is nothing
 * left to say, or nothing that the person may still read: for example, the task is done or is assigned to
 * others.
 */
import { type SQL, sql } from 'drizzle-orm'
import { GLASS_TASK } from '../../contract/models/break-glass.ts'
import type { MailKind } from '../../contract/models/mail.ts'
import { REVIEW_TASK } from '../../contract/models/review-item.ts'
import type { Db } from '../../database/database.ts'
import type { RequestRow } from '../../database/schema/requests.ts'
import type { MailText, Matter } from '../../words/mail.ts'
import { standingOf } from '../requests/machine/states.ts'
import { named, quotable } from './mail-names.ts'

/** Content of one mail: its words, and the page to which it links. */
export type MailContent = { text: MailText; matter: Matter; path: string }

type Asked = { userId: string; about: string; now: Date }
type Look = (db: Db, asked: Asked) => Promise<MailContent | null>

const NOTHING = {
  ...{ thing: null, app: null, by: null, target: null, revoker: null, note: null },
  ...{ seconds: null, until: null, count: null },
} as const

/** Condition that the task `t` is open and assigned to the person. */
const isMine = (userId: string): SQL => sql`t.status in ('PENDING', 'ACCEPTED') and exists (
  select from task_assignees a where a.task_id = t.id and (a.user_id = ${userId}
    or a.group_id in (select m.group_id from group_members m where m.user_id = ${userId})))`

/** SQL expression for the name of a joined person. */
const nameOf = (alias: string): SQL =>
  sql.raw(
    `coalesce(nullif(trim(${alias}.given_name || ' ' || ${alias}.family_name), ''), ${alias}.email)`,
  )

type TaskRow = {
  type: string
  category: string
  description: string | null
  app: string | null
  thing: string | null
  seconds: number | null
  why: string | null
  by: string | null
  target: string | null
}

async function taskOf(db: Db, { about, userId }: Asked): Promise<TaskRow | null> {
  const { rows } = await db.execute<TaskRow>(sql`
    select t.task_type as type, t.task_category as category, t.description, p.name as app, r.label as thing,
      r.expiration_in_seconds as seconds, r.notes ->> 'PENDING' as why,
      ${nameOf('asker')} as by, ${nameOf('holder')} as target
    from tasks t
    left join apps p on p.id = t.app_id
    left join access_requests r on r.id = t.access_request_id
    left join users asker on asker.id = r.requester_id
    left join users holder on holder.id = t.target_user_id
    where t.id::text = ${about} and ${isMine(userId)}`)
  return rows[0] ?? null
}

/**
 * TEXT_OF_CATEGORY: category of a task -> key of its text. Other categories, tasks without people, and reviews
 * of break-glass get `todo`, which quotes the task's description. Access reviews get `review`.
 */
const TEXT_OF_CATEGORY: Readonly<Record<string, MailText>> = {
  MANAGER_APPROVAL: 'asks',
  APPROVAL: 'asks',
  PROVISIONING: 'give',
  DEPROVISIONING: 'remove',
}

const contentOfTask =
  (always?: MailText): Look =>
  async (db, asked) => {
    const task = await taskOf(db, asked)
    if (!task) return null
    if (task.type === REVIEW_TASK) return contentOfReview(db, asked)
    const isOfNobody = task.by === null && task.target === null
    const known =
      isOfNobody || task.type === GLASS_TASK ? undefined : TEXT_OF_CATEGORY[task.category]
    const text = always ?? known ?? 'todo'
    const isOwnWords = text === 'todo' || text === 'sync_failed'
    return {
      text,
      path: `/inbox/${asked.about}`,
      matter: {
        ...{ ...NOTHING, now: asked.now, seconds: task.seconds },
        ...{ thing: named(task.thing), app: named(task.app) },
        ...{ by: named(task.by), target: named(task.target) },
        note: quotable(isOwnWords ? task.description : task.why),
      },
    }
  }

type ReviewRow = { name: string; app: string | null; until: string; count: number }

const contentOfReview: Look = async (db, { about, userId, now }) => {
  const { rows } = await db.execute<ReviewRow>(sql`
    select v.name, p.name as app, v.deadline_at as until, (select count(*)::int from access_review_items i
        where i.assignment_id = s.id and i.state = 'OPEN') as count
    from tasks t
    join access_review_assignments s on s.task_id = t.id
    join access_review_apps a on a.id = s.arda_id
    join access_reviews v on v.id = a.review_id
    left join apps p on p.id = a.app_id
    where t.id::text = ${about} and ${isMine(userId)}`)
  const [row] = rows
  if (!row || row.count === 0) return null
  const matter = { ...NOTHING, now, thing: named(row.name), app: named(row.app) }
  return {
    text: 'review',
    path: `/inbox/${about}`,
    matter: { ...matter, count: row.count, until: new Date(row.until) },
  }
}

type AskedRow = {
  status: RequestRow['status']
  thing: string | null
  app: string | null
  seconds: number | null
  until: string | null
  note: string | null
  by: string | null
  target: string | null
  /** Person who revoked the access, and the reason. */
  revoker: string | null
  why: string | null
  mine: boolean
  extend: string
  /** Whether the person has the same access for longer by another request. */
  lasts: boolean
}

async function requestOf(db: Db, { about, userId }: Asked): Promise<AskedRow | null> {
  const { rows } = await db.execute<AskedRow>(sql`
    select r.status, r.label as thing, p.name as app, r.expiration_in_seconds as seconds, r.expires_at as until,
      r.notes ->> r.status as note, ${nameOf('asker')} as by, ${nameOf('holder')} as target,
      ${nameOf('revoker')} as revoker, r.notes ->> 'REVERTING' as why,
      r.target_user_id = ${userId} as mine,
      'app_id=' || r.app_id || coalesce('&permission=' || r.permission_id, '') as extend,
      exists (select from access_requests o where o.domain_id = r.domain_id and o.target_user_id = r.target_user_id
        and o.app_id = r.app_id and o.label is not distinct from r.label and o.id <> r.id
        and o.status = 'COMPLETED' and (o.expires_at is null or o.expires_at > r.expires_at)) as lasts
    from access_requests r
    join users holder on holder.id = r.target_user_id
    left join users asker on asker.id = r.requester_id
    left join users revoker on revoker.id = r.revoked_by_id
    left join apps p on p.id = r.app_id
    where r.id::text = ${about} and (r.target_user_id = ${userId} or r.requester_id = ${userId})`)
  return rows[0] ?? null
}

const contentOfRequest =
  (textOf: (row: AskedRow, now: Date) => MailText | null): Look =>
  async (db, asked) => {
    const row = await requestOf(db, asked)
    const text = row && textOf(row, asked.now)
    if (!row || !text) return null
    const people = {
      ...{ by: row.mine ? named(row.target) : named(row.by), target: named(row.target) },
      revoker: named(row.revoker),
    }
    return {
      text,
      path: text === 'ends' ? `/access/request?${row.extend}` : `/access/requests/${asked.about}`,
      matter: {
        ...{ ...NOTHING, ...people, now: asked.now, seconds: row.seconds },
        ...{
          thing: named(row.thing),
          app: named(row.app),
          note: quotable(text === 'revoked' ? row.why : row.note),
        },
        until: row.until === null ? null : new Date(row.until),
      },
    }
  }

/** Returns the text for the outcome of a decision. Access that was already granted has its own mail. */
function decisionOf({ status }: AskedRow): MailText | null {
  if (status === 'DENIED' || status === 'MANAGER_DENIED' || status === 'DENIED_PROVISIONING')
    return 'denied'
  if (status === 'EXPIRED') return 'undecided'
  if (status === 'CANCELLED') return 'cancelled'
  const isOnTheWay = standingOf(status) === 'wanted' && status !== 'COMPLETED'
  return isOnTheWay ? 'approved' : null
}

const isThere = ({ status }: AskedRow): boolean => status === 'COMPLETED'

export const MAIL_CONTENTS: Readonly<Record<MailKind, Look>> = {
  waits: contentOfTask(),
  sync_failed: contentOfTask('sync_failed'),
  review_reminder: contentOfReview,
  decided: contentOfRequest(decisionOf),
  given: contentOfRequest((row) => (isThere(row) ? 'given' : null)),
  revoked: contentOfRequest((row) => (row.revoker === null ? null : 'revoked')),
  ends: contentOfRequest((row, now) =>
    isThere(row) && !row.lasts && row.until !== null && new Date(row.until) > now ? 'ends' : null,
  ),
  async quarantined(db, { about, userId, now }) {
    const { rows } = await db.execute(
      sql`select from user_roles where user_id = ${userId} and role = 'Admin'`,
    )
    if (rows.length === 0) return null
    const matter = { ...NOTHING, now, thing: named(about) }
    return { text: 'quarantined', path: '/docs/operate/troubleshooting', matter }
  },
}
