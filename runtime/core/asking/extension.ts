/** Having the same for longer: what a person has by requests now, and which lengths would end later. */
import { and, eq, isNull, ne, type SQL } from 'drizzle-orm'
import { ACCESS_LENGTHS, type AccessLength } from '../../contract/models/access-length.ts'
import type { Db } from '../../database/database.ts'
import { accessRequests, type RequestRow } from '../../database/schema/requests.ts'
import { isId } from '../kernel/by-id.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { sameThing } from '../requests/overlapping-grants.ts'

/** That somebody has something already; `until`: when the last request that gives it ends, null for no end. */
export type HeldNow = { until: Date | null }

const of = accessRequests

/** What the caller has by requests of a permission, or with null of the app itself; null for nothing. */
export async function heldNow(
  db: Db,
  { domainId, userId }: Principal,
  appId: string,
  permissionId: string | null,
): Promise<HeldNow | null> {
  if (permissionId !== null && !isId(permissionId)) return null
  const which = and(
    ...[eq(of.domainId, domainId), eq(of.targetUserId, userId), eq(of.appId, appId)],
    permissionId === null ? isNull(of.label) : eq(of.permissionId, permissionId),
  )
  return latest(db, which)
}

/** What the person of a request has of the same by other requests; null for nothing. */
export const heldBeside = (db: Db, request: RequestRow): Promise<HeldNow | null> =>
  latest(db, and(sameOfPerson(request), ne(of.id, request.id)))

/** A condition: requests of the same person for the same thing of the same app. */
export const sameOfPerson = (request: RequestRow): SQL | undefined =>
  and(
    ...[eq(of.domainId, request.domainId), eq(of.targetUserId, request.targetUserId)],
    ...[eq(of.appId, request.appId), sameThing(request)],
  )

async function latest(db: Db, which: SQL | undefined): Promise<HeldNow | null> {
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

/** How exactly people are told when access of a length ends: by the day, else by the minute. In milliseconds. */
const exactness = (seconds: number): number => (seconds * 1000 < 2 * DAY_MS ? MINUTE_MS : DAY_MS)

/** The first moment after all that is told like this one. */
const after = (until: Date, stepMs: number): number =>
  (Math.floor(until.getTime() / stepMs) + 1) * stepMs

/** Whether access of a length that is given now ends later than what is held, in what people are told of both. */
export function endsLater(length: AccessLength, { until }: HeldNow, now: Date): boolean {
  if (until === null) return false
  const seconds = ACCESS_LENGTHS[length]
  return seconds === null || now.getTime() + seconds * 1000 >= after(until, exactness(seconds))
}

/** From when on one of some lengths ends later; null where none ever does, as what is held has no end. */
export function extendableFrom(lengths: readonly AccessLength[], { until }: HeldNow): Date | null {
  const starts = lengths.flatMap((length) => {
    const seconds = ACCESS_LENGTHS[length]
    return until === null || seconds === null
      ? []
      : [after(until, exactness(seconds)) - seconds * 1000]
  })
  return starts.length === 0 ? null : new Date(Math.min(...starts))
}
