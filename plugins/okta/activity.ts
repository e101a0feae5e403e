/** Reads the system log: events, their actors and their applications. */
import { chain, type Json, type Listing, mapped, type Output, type Paged, paged } from 'keyway/sdk'
import { type Ctx, listing } from './service.ts'

type ActivityRecord = Output<'list_activity_records'>[number]
type ApplicationRecord = Output<'list_applications_activity_records'>[number]

type Party = {
  id?: string
  type?: string
  displayName?: string | null
  alternateId?: string | null
}

type LogEvent = {
  uuid: string
  eventType: string
  published: string
  displayMessage?: string | null
  actor?: Party
  target?: Party[] | null
  outcome?: { result?: string } | null
  client?: { ipAddress?: string | null } | null
}

/** Type of a target that is an application. */
const APPLICATION_TARGET = 'AppInstance'

/** Returns one page of the log, oldest first. */
export const listActivity = (ctx: Ctx): Promise<Paged<ActivityRecord[]>> =>
  chain<ActivityRecord>(ctx, { log: mapped(events(ctx), (event) => [toRecord(event)]) })

/**
 * Returns one page of events that concern applications, oldest first. An event appears once per application.
 */
export const listApplicationsActivity = (ctx: Ctx): Promise<Paged<ApplicationRecord[]>> =>
  chain<ApplicationRecord>(ctx, {
    log: mapped(events(ctx, `target.type eq "${APPLICATION_TARGET}"`), (event) =>
      (event.target ?? [])
        .filter(({ type, id }) => type === APPLICATION_TARGET && id !== undefined)
        .map(({ id }) => ({ ...toRecord(event), application_instance_id: String(id) })),
    ),
  })

/**
 * Lists the log of the last seven days, the default of Okta without a start time. A page without events is
 * the last one: the end of the log also has a link, for polling.
 */
function events(ctx: Ctx, filter?: string): Listing<LogEvent> {
  const log = listing<LogEvent>(ctx, '/logs', { filter, sortOrder: 'ASCENDING' })
  return async (at) => {
    const page = await log(at)
    return '__paged' in page && page.response.length === 0 ? paged([]) : page
  }
}

const toRecord = (event: LogEvent): ActivityRecord => ({
  id: event.uuid,
  activity_type: event.eventType,
  timestamp: event.published,
  actor: toParty(event.actor ?? {}),
  targets: (event.target ?? []).map(toParty),
  metadata: metadataOf({
    message: event.displayMessage,
    outcome: event.outcome?.result,
    ip_address: event.client?.ipAddress,
  }),
})

const toParty = ({ id, type, displayName, alternateId }: Party): { [member: string]: Json } => ({
  id: id ?? null,
  type: type ?? null,
  name: displayName ?? null,
  username: alternateId ?? null,
})

function metadataOf(values: Record<string, string | null | undefined>): Record<string, string> {
  const present = Object.entries(values).filter((one): one is [string, string] => Boolean(one[1]))
  return Object.fromEntries(present)
}
