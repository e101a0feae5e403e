/** Extending access: the access that a person now has by requests, and the lengths that would end later. */
import { and, eq, isNull, ne, type SQL } from 'drizzle-orm'
import { ACCESS_LENGTHS, type AccessLength } from '../../contract/models/access-length.ts'
import type { Db } from '../../database/database.ts'
import { accessRequests, type RequestRow } from '../../database/schema/requests.ts'
import { isId } from '../kernel/by-id.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { sameThing } from '../requests/overlapping-grants.ts'

/**
 * Access that a person already has. `until` is the end of the longest-lasting request that grants it, or null
 * if it has no end.
 */
export type CurrentAccess = { until: Date | null }

const of = accessRequests

/**
 * Returns the access that the caller has by requests to a permission, or to the app itself if `permissionId`
 * is null. Null if they have none.
 */
export async function heldNow(
  db: Db,
  { domainId, userId }: Principal,
  appId: string,
  permissionId: string | null,
): Promise<CurrentAccess | null> {
  if (permissionId !== null && !isId(permissionId)) return null
  const which = and(
    ...[eq(of.domainId, domainId), eq(of.targetUserId, userId), eq(of.appId, appId)],
    permissionId === null ? isNull(of.label) : eq(of.permissionId, permissionId),
  )
  return latest(db, which)
}

/** Returns the same access that the person of a request has by other requests, or null if they have none. */
export const heldBeside = (db: Db, request: RequestRow): Promise<CurrentAccess | null> =>
  latest(db, and(sameOfPerson(request), ne(of.id, request.id)))

/** Condition that selects requests of the same person for the same thing in the same app. */
export const sameOfPerson = (request: RequestRow): SQL | undefined =>
  and(
    ...[eq(of.domainId, request.domainId), eq(of.targetUserId, request.targetUserId)],
    ...[eq(of.appId, request.appId), sameThing(request)],
  )

async function latest(db: Db, which: SQL | undefined): Promise<CurrentAccess | null> {
  const rows = await db
    .select({ until: of.expiresAt })
    .from(of)
    .where(and(which, eq(of.status, 'COMPLETED')))
  if (rows.length === 0) return null
  const ends = rows.flatMap(({ until }) => (until === null ? [] : [until.getTime()]))
  return { until: ends.length < rows.length ? null : new Date(Math.max(...ends)) }
}

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/**
 * Returns the precision, in milliseconds, with which the end of access of a given length is displayed: to the
 * day, or to the minute if it is shorter than two days.
 */
const exactness = (seconds: number): number => (seconds * 1000 < 2 * DAY_MS ? MINUTE_MS : DAY_MS)

/** Returns the first moment after `until` that is displayed differently. */
const after = (until: Date, stepMs: number): number =>
  (Math.floor(until.getTime() / stepMs) + 1) * stepMs

/**
 * Reports whether access of a given length that is granted now would end later than the held access, as
 * displayed to people.
 */
export function endsLater(length: AccessLength, { until }: CurrentAccess, now: Date): boolean {
  if (until === null) return false
  const seconds = ACCESS_LENGTHS[length]
  return seconds === null || now.getTime() + seconds * 1000 >= after(until, exactness(seconds))
}

/**
 * Returns the earliest moment from which access of one of the lengths would end later than the held access.
 * Null if there is none, for example because the held access has no end.
 */
export function extendableFrom(
  lengths: readonly AccessLength[],
  { until }: CurrentAccess,
): Date | null {
  const starts = lengths.flatMap((length) => {
    const seconds = ACCESS_LENGTHS[length]
    return until === null || seconds === null
      ? []
      : [after(until, exactness(seconds)) - seconds * 1000]
  })
  return starts.length === 0 ? null : new Date(Math.min(...starts))
}
