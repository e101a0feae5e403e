/** Changes to users by the identity source, oldest first. A reader continues with the cursor. */
import { and, asc, eq, gt, gte, inArray, lte } from 'drizzle-orm'
import type { QueryOf } from '../../contract/endpoints/table.ts'
import { invalidAt } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { identityEvents } from '../../database/schema/sync.ts'
import { isId } from '../kernel/by-id.ts'
import type { Principal } from '../kernel/identity/principal.ts'

type EventQuery = QueryOf<'list_identity_events'>

/**
 * Lists identity events.
 *
 * @throws CoreError `invalid` for a malformed cursor
 */
export async function listIdentityEvents(db: Db, { domainId }: Principal, query: EventQuery) {
  const { identity_ids: ids, changed_fields: fields, start_time, end_time, limit } = query
  const known = ids.filter(isId)
  const where = and(
    eq(identityEvents.domainId, domainId),
    ids.length === 0 ? undefined : inArray(identityEvents.userId, known),
    fields.length === 0 ? undefined : inArray(identityEvents.changedField, fields),
    start_time === null ? undefined : gte(identityEvents.detectedAt, start_time),
    end_time === null ? undefined : lte(identityEvents.detectedAt, end_time),
  )
  const after = query.cursor === null ? 0 : opened(query.cursor)
  const rows = await db
    .select()
    .from(identityEvents)
    .where(and(where, gt(identityEvents.id, after)))
    .orderBy(asc(identityEvents.id))
    .limit(limit + 1)
  const events = rows.slice(0, limit)
  const last = events.at(-1)
  return {
    identity_events: events.map((row) => ({
      id: String(row.id),
      user_id: row.userId,
      detected_time: row.detectedAt?.toISOString() ?? '',
      changed_field: row.changedField,
      old_field_value: row.oldValue,
      new_field_value: row.newValue,
    })),
    next_cursor: last && rows.length > limit ? sealed(last.id) : null,
    total_count: await db.$count(identityEvents, where),
  }
}

/** Encodes a cursor. It is opaque to callers; only `opened` reads it. */
const sealed = (id: number): string => Buffer.from(`identity-event ${id}`).toString('base64url')

function opened(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString('utf8')
  const [, digits] = /^identity-event ([0-9]{1,15})$/.exec(text) ?? []
  if (digits !== undefined) return Number(digits)
  const msg =
    'Value error, this is not a cursor from an earlier response; leave it out to start again'
  throw invalidAt(['query', 'cursor'], msg)
}
