/**
 * Associations of accounts and entitlements, now or at a moment, from the spans written by complete syncs.
 */
import { and, eq, inArray, max, type SQL, sql } from 'drizzle-orm'
import type { QueryOf } from '../../../contract/endpoints/table.ts'
import type { Association } from '../../../contract/models/access.ts'
import type { Db } from '../../../database/database.ts'
import { accounts, apps } from '../../../database/schema/apps.ts'
import { entitlements, syncRuns } from '../../../database/schema/sync.ts'
import { checkMoment, type Moment } from '../../history/as-of.ts'
import { associationSpansOf } from '../../history/association-spans.ts'
import { idEquals, isId } from '../../kernel/by-id.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { inSnapshot } from '../../kernel/list/versions.ts'
import { isWalk, readNextIds } from '../../kernel/list/walk.ts'

type Query = QueryOf<'list_associations'>

/** A span as PostgreSQL writes it in JSON. */
type Span = {
  app_id: string
  account_id: string
  entitlement_id: number
  since: string
  until: string | null
  first_run: number | null
  last_run: number | null
  gone_run: number | null
}

type AssociationQuery = { domainId: string; accountId: string | null; at: Moment }

/** Lists associations by app, account and entitlement. @throws CoreError `invalid` */
export async function listAssociations(db: Db, { domainId }: Principal, query: Query) {
  const { app_id, account_id, as_of, page, size } = query
  if (as_of !== null) await checkMoment(db, as_of)
  const named = account_id !== null && isId(account_id) ? account_id : null
  const question: AssociationQuery = { domainId, accountId: named, at: as_of ?? 'now' }
  // Spans of an account are found within its app. A text that is not an id matches none.
  const ofAccount =
    account_id === null
      ? undefined
      : sql`${apps.id} = (select app_id from accounts where id = ${named})`
  const which = and(eq(apps.domainId, domainId), idEquals(apps.id, app_id), ofAccount)
  const slice = { limit: size, offset: (page - 1) * size }
  const read = isWalk(db) ? walk : readSlice
  const { spans, total } = await read(db, which, question, slice)
  const items = await toAssociations(db, spans)
  return { items, total, page, size, pages: Math.ceil(total / size) }
}

type Slice = { limit: number; offset: number }

const ORDER = sql`account_id, entitlement_id, since`

/** Returns the spans of a row of `apps`, or only the `first` ones in their order. */
const spansAt = ({ domainId, accountId, at }: AssociationQuery, first?: number): SQL =>
  associationSpansOf({
    domainId: sql`${domainId}`,
    appId: sql`${apps.id}`,
    at,
    ...(accountId === null ? {} : { accountId: sql`${accountId}` }),
    ...(first === undefined ? {} : { first }),
  })

/** Returns the query that counts the spans of each app. */
const countsOf = (which: SQL | undefined, question: AssociationQuery): SQL => sql`
  select ${apps.id} as id, held.n from ${apps}
  cross join lateral (select count(*) as n from ${spansAt(question)} s) held
  where ${which} and held.n > 0 order by ${apps.id}`

/** Reads a slice of a list that is walked to its end. */
async function walk(
  tx: Db,
  which: SQL | undefined,
  question: AssociationQuery,
  slice: Slice,
): Promise<{ spans: Span[]; total: number }> {
  const ids = sql`select to_json(s)::text as id from ${apps}
    cross join lateral ${spansAt(question)} s where ${which} order by ${apps.id}, ${ORDER}`
  const total = async () => {
    const { rows } = await tx.execute<{ n: string }>(countsOf(which, question))
    return rows.reduce((sum, { n }) => sum + Number(n), 0)
  }
  const next = await readNextIds(tx, { key: 'associations', ids, total }, slice)
  if (next === null) throw new Error('associations are walked in their order')
  return { spans: next.ids.map((span) => JSON.parse(span)), total: next.total }
}

/**
 * Counts the spans of each app, and reads only from the apps in the slice, whose order is that of an index.
 */
function readSlice(
  db: Db,
  which: SQL | undefined,
  question: AssociationQuery,
  { limit, offset }: Slice,
): Promise<{ spans: Span[]; total: number }> {
  return inSnapshot(db, async (tx) => {
    const { rows } = await tx.execute<{ id: string; n: string }>(countsOf(which, question))
    const reached: { app: string; from: number; count: number }[] = []
    let before = 0
    for (const { id, n } of rows) {
      const from = Math.max(0, offset - before)
      const to = Math.min(Number(n), offset + limit - before)
      if (to > from) reached.push({ app: id, from, count: to - from })
      before += Number(n)
    }
    const spans = []
    for (const { app, from, count } of reached) {
      const { rows: found } = await tx.execute<{ span: Span }>(sql`
        select to_json(s) as span from ${apps}
        cross join lateral (select * from ${spansAt(question, from + count)} first
          order by ${ORDER} limit ${count} offset ${from}) s
        where ${apps.id} = ${app}`)
      spans.push(...found.map(({ span }) => span))
    }
    return { spans, total: before }
  })
}
async function toAssociations(db: Db, spans: readonly Span[]): Promise<Association[]> {
  if (spans.length === 0) return []
  const heldBy = await db
    .select({ id: accounts.id, name: accounts.uniqueIdentifier })
    .from(accounts)
    .where(inArray(accounts.id, [...new Set(spans.map((span) => span.account_id))]))
  const held = await db
    .select()
    .from(entitlements)
    .where(inArray(entitlements.id, [...new Set(spans.map((span) => span.entitlement_id))]))
  const confirmed = await lastRuns(db, [...new Set(spans.map((span) => span.app_id))])
  const names = new Map(heldBy.map(({ id, name }) => [id, name]))
  const byId = new Map(held.map((row) => [row.id, row]))
  return spans.map(({ app_id, account_id, entitlement_id, since, until, ...runs }) => {
    const entitlement = byId.get(entitlement_id)
    return {
      app_id,
      account_id,
      unique_identifier: names.get(account_id) ?? '',
      entitlement_type: entitlement?.entitlementType ?? '',
      entitlement_id: entitlement?.externalId ?? '',
      resource_id: entitlement?.resourceId ?? '',
      label: entitlement?.label ?? '',
      since: new Date(since).toISOString(),
      until: until === null ? null : new Date(until).toISOString(),
      first_run: runs.first_run,
      last_run: until === null ? (confirmed.get(app_id) ?? null) : runs.last_run,
      gone_run: runs.gone_run,
    }
  })
}

/** Returns the latest complete sync of each app. It confirms the open spans of the app. */
async function lastRuns(db: Db, apps: string[]): Promise<Map<string, number | null>> {
  const rows = await db
    .select({ appId: syncRuns.appId, last: max(syncRuns.id) })
    .from(syncRuns)
    .where(and(inArray(syncRuns.appId, apps), eq(syncRuns.state, 'SUCCEEDED')))
    .groupBy(syncRuns.appId)
  return new Map(rows.map(({ appId, last }) => [appId, last]))
}
