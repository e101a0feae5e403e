/** Reads last logins and the activity log. */
import {
  ConnectorError,
  chain,
  type Input,
  ifThere,
  inParallel,
  type Json,
  type Listing,
  type Output,
  type Paged,
  paged,
} from 'keyway/sdk'
import { type Ctx, listing, reports } from './service.ts'
import { readUser } from './users.ts'

type ActivityRecord = Output<'list_activity_records'>[number]

type Parameter = {
  name: string
  value?: string
  intValue?: string
  boolValue?: boolean
  multiValue?: string[]
}
type Activity = {
  id: { time: string; uniqueQualifier: string; applicationName?: string }
  actor?: { email?: string; profileId?: string; callerType?: string; key?: string }
  ipAddress?: string
  events?: { type?: string; name: string; parameters?: Parameter[] }[]
}

/** Maximum page size of the activity log. */
const MAX_ACTIVITIES = 1000

const DAY_MS = 86_400_000

/** Returns the last login of each account. Unknown accounts and those that never logged in are left out. */
export async function getLastActivity(
  { account_ids }: Input<'get_last_activity'>,
  ctx: Ctx,
): Promise<Output<'get_last_activity'>> {
  const all = await inParallel([...new Set(account_ids)], (id) => ifThere(readUser(ctx, id)))
  ctx.raw(all)
  return all.flatMap((user) => {
    if (!user?.lastLoginTime || Date.parse(user.lastLoginTime) <= 0) return []
    return [{ account_id: user.id, event_type: 'last_login', happened_at: user.lastLoginTime }]
  })
}

/** Returns one page of logins, followed by administrator actions, newest first. */
export const listActivity = (ctx: Ctx): Promise<Paged<ActivityRecord[]>> =>
  chain<ActivityRecord>(ctx, { login: activities(ctx, 'login'), admin: activities(ctx, 'admin') })

/**
 * Lists one application's activities. A page token is valid only with the start time that it was issued for,
 * so the cursor holds both.
 */
function activities(ctx: Ctx, application: 'login' | 'admin'): Listing<ActivityRecord> {
  return async ({ cursor, size }) => {
    const { start, token } =
      cursor === null ? { start: startOf(ctx), token: null } : placeOf(cursor)
    const list = listing<Activity>(reports(ctx), {
      path: `/users/all/applications/${application}`,
      items: 'items',
      most: MAX_ACTIVITIES,
      query: { startTime: start },
    })
    const page = await list({ cursor: token, size })
    const records = page.response.flatMap((one) => toRecords(one, application))
    return paged(records, page.cursor === null ? null : { start, token: page.cursor })
  }
}

const startOf = (ctx: Ctx): string | null => {
  const { activity_days: days } = ctx.settings
  return days === undefined ? null : new Date(ctx.now() - days * DAY_MS).toISOString()
}

function placeOf(cursor: Json): { start: string | null; token: string } {
  const { start, token }: { [member: string]: unknown } = Object(cursor)
  if ((start === null || typeof start === 'string') && typeof token === 'string')
    return { start, token }
  throw new ConnectorError('invalid_page_token', 'The cursor is not one of the activity log')
}

/** Converts an activity to records. An activity may hold several events. */
const toRecords = (
  { id, actor = {}, ipAddress, events = [] }: Activity,
  application: string,
): ActivityRecord[] =>
  events.map(({ type, name, parameters = [] }, index) => ({
    id: `${application}/${id.time}/${id.uniqueQualifier}/${index}`,
    activity_type: name,
    timestamp: id.time,
    actor: {
      id: actor.profileId ?? null,
      type: actor.callerType ?? 'USER',
      username: actor.email ?? actor.key ?? null,
    },
    targets: targetsOf(parameters),
    metadata: {
      application,
      ...(type === undefined ? {} : { event_type: type }),
      ...(ipAddress === undefined ? {} : { ip_address: ipAddress }),
      ...Object.fromEntries(parameters.map((one) => [one.name, textOf(one)])),
    },
  }))

/** Parameters that name the target of an event, with the target's type. */
const TARGETS = { USER_EMAIL: 'USER', GROUP_EMAIL: 'GROUP', ORG_UNIT_NAME: 'ORG_UNIT' } as const

const isTarget = (name: string): name is keyof typeof TARGETS => Object.hasOwn(TARGETS, name)

const targetsOf = (parameters: readonly Parameter[]) =>
  parameters.flatMap(({ name, value }) =>
    isTarget(name) && value !== undefined ? [{ type: TARGETS[name], name: value }] : [],
  )

const textOf = ({ value, intValue, boolValue, multiValue }: Parameter): string =>
  value ?? intValue ?? (boolValue === undefined ? (multiValue ?? []).join() : String(boolValue))
