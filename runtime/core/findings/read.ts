/** Reading findings in their wire format, and accepting them. */
import { and, desc, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { QueryOf } from '../../contract/endpoints/table.ts'
import { conflict, invalidAt, notFound } from '../../contract/errors/problem.ts'
import {
  type AcceptFindingInput,
  type AccessFinding,
  FINDINGS,
  MAX_ACCEPTED_DAYS,
} from '../../contract/models/finding.ts'
import { parseDatetime } from '../../contract/schema/datetime.ts'
import type { Db } from '../../database/database.ts'
import { accounts, apps } from '../../database/schema/apps.ts'
import { licencePrices } from '../../database/schema/expenses.ts'
import { findings } from '../../database/schema/findings.ts'
import { users } from '../../database/schema/people.ts'
import { idEquals, rowOfId } from '../kernel/by-id.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { shortened } from '../kernel/decimal.ts'
import { idsOfApps, reach } from '../kernel/identity/app-reach.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { later } from '../kernel/jobs/retry-schedules.ts'
import { selectPage } from '../kernel/list/page.ts'
import { wakeBy } from './look-schedule.ts'
import { recordFinding } from './record.ts'

type FindingRow = typeof findings.$inferSelect

type Query = QueryOf<'list_findings'>

/** Condition on findings the caller may read: all with findings.read, else those of apps they administer. */
function readable(principal: Principal): SQL | undefined {
  const reached = reach(principal, 'findings.read')
  return and(
    eq(findings.domainId, principal.domainId),
    reached && sql`${findings.appId} = any(${idsOfApps(reached)})`,
  )
}

/** Lists findings, newest first. @throws CoreError forbidden */
export async function listFindings(db: Db, principal: Principal, query: Query) {
  const { state, kind, severity } = query
  const where = and(
    readable(principal),
    state.length > 0 ? inArray(findings.state, state) : undefined,
    kind.length > 0 ? inArray(findings.kind, kind) : undefined,
    severity.length > 0 ? inArray(findings.severity, severity) : undefined,
    idEquals(findings.appId, query.app_id),
    idEquals(findings.userId, query.user_id),
    idEquals(findings.ruleId, query.separation_rule_id),
  )
  const order = [desc(findings.openedAt), desc(findings.id)]
  return selectPage(db, findings, { where, order }, query, (rows) => toFindings(db, rows))
}

/** Returns a finding in its wire format. @throws CoreError forbidden, not_found */
export async function getFinding(db: Db, principal: Principal, id: string): Promise<AccessFinding> {
  return one(db, await findFinding(db, principal, id, false))
}

async function one(db: Db, row: FindingRow): Promise<AccessFinding> {
  const [finding] = await toFindings(db, [row])
  if (!finding) throw notFound('Finding')
  return finding
}

const findFinding = (db: Db, principal: Principal, id: string, locked: boolean) =>
  rowOfId(db, findings, 'Finding', principal, id, {
    lock: locked && 'update',
    where: readable(principal),
  })

/**
 * Accepts a finding until a given time, when it opens again.
 *
 * @throws CoreError `not_found`, `conflict` if it is resolved, `invalid` if the time is past or too far away
 */
export async function acceptFinding(
  db: Db,
  principal: Principal,
  id: string,
  { reason, until }: AcceptFindingInput,
  deps: Pick<CoreContext, 'now'>,
): Promise<AccessFinding> {
  const row = await db.transaction(async (tx) => {
    const before = await findOpen(tx, principal, id)
    const now = await deps.now(tx)
    const acceptedUntil = acceptedEnd(until, now)
    const [after] = await tx
      .update(findings)
      .set({
        ...{ state: 'ACCEPTED', acceptedAt: now, acceptedUntil },
        ...{ acceptedById: principal.userId, reason },
      })
      .where(eq(findings.id, before.id))
      .returning()
    await recordFinding(tx, principal, 'FINDING_ACCEPTED', before, {
      ...{ until: acceptedUntil.toISOString(), reason },
    })
    const subject = before.appId ?? before.domainId
    await wakeBy(tx, { kind: before.appId === null ? 'domain' : 'app', id: subject }, acceptedUntil)
    return after ?? before
  })
  return one(db, row)
}

/** Withdraws an acceptance. @throws CoreError not_found, conflict */
export async function reopenFinding(
  db: Db,
  principal: Principal,
  id: string,
): Promise<AccessFinding> {
  const row = await db.transaction(async (tx) => {
    const before = await findOpen(tx, principal, id)
    if (before.state !== 'ACCEPTED') throw conflict('The finding is already open')
    const [after] = await tx
      .update(findings)
      .set({ state: 'OPEN', acceptedUntil: null })
      .where(eq(findings.id, before.id))
      .returning()
    await recordFinding(tx, principal, 'FINDING_REOPENED', before)
    return after ?? before
  })
  return one(db, row)
}

async function findOpen(tx: Db, principal: Principal, id: string): Promise<FindingRow> {
  const row = await findFinding(tx, principal, id, true)
  if (row.state === 'RESOLVED')
    throw conflict('The finding is resolved: a later check no longer found it')
  return row
}

/** Parses the end of an acceptance. @throws CoreError `invalid` if it is past or too far away */
export function acceptedEnd(text: string, now: Date): Date {
  const until = parseDatetime(text)
  const last = later(now, MAX_ACCEPTED_DAYS * 24 * 3600 * 1000)
  if (until !== null && until > now && until <= last) return until
  throw invalidAt(
    ['body', 'until'],
    `Value error, this must be within the next ${MAX_ACCEPTED_DAYS} days`,
  )
}

const iso = (at: Date | null): string | null => at?.toISOString() ?? null

async function toFindings(db: Db, rows: readonly FindingRow[]): Promise<AccessFinding[]> {
  if (rows.length === 0) return []
  const ids = (key: 'appId' | 'accountId' | 'userId') => [
    ...new Set(rows.flatMap((row) => row[key] ?? [])),
  ]
  const { id, name, adminUserIds, adminGroupIds } = apps
  const ofApps = await byId(ids('appId'), (wanted) =>
    db.select({ id, name, adminUserIds, adminGroupIds }).from(apps).where(inArray(id, wanted)),
  )
  const ofAccounts = await byId(ids('accountId'), (wanted) =>
    db
      .select({ id: accounts.id, name: accounts.uniqueIdentifier })
      .from(accounts)
      .where(inArray(accounts.id, wanted)),
  )
  const ofUsers = await byId(ids('userId'), (wanted) =>
    db.select({ id: users.id, email: users.email }).from(users).where(inArray(users.id, wanted)),
  )
  const prices = await pricesOf(db, rows)
  return rows.map((row) => {
    const { label, ...seen } = row.details
    const details = { ...seen, ...prices.get(row.id) }
    const app = row.appId === null ? undefined : ofApps.get(row.appId)
    const { meaning, nextStep } = FINDINGS[row.kind]
    return {
      ...{ id: row.id, kind: row.kind, severity: row.severity, state: row.state },
      ...{ meaning, next_step: nextStep },
      app_id: row.appId,
      app_name: app?.name ?? null,
      account_id: row.accountId,
      unique_identifier: ofAccounts.get(row.accountId ?? '')?.name ?? null,
      user_id: row.userId,
      user_email: ofUsers.get(row.userId ?? '')?.email ?? null,
      label: typeof label === 'string' ? label : null,
      separation_rule_id: row.ruleId,
      details,
      owner_user_ids: app?.adminUserIds ?? [],
      owner_group_ids: app?.adminGroupIds ?? [],
      opened_at: row.openedAt.toISOString(),
      opened_run: row.openedRun,
      resolved_at: iso(row.resolvedAt),
      resolved_run: row.resolvedRun,
      accepted_at: iso(row.acceptedAt),
      accepted_until: iso(row.acceptedUntil),
      accepted_by_id: row.acceptedById,
      reason: row.reason,
    }
  })
}

type Price = { amount: string; currency: string; period: string }

/** Returns the current prices of unused licences, by the ids of their findings. */
async function pricesOf(db: Db, rows: readonly FindingRow[]): Promise<Map<string, Price>> {
  const ids = rows.flatMap(({ kind, id }) => (kind === 'UNUSED_LICENCE' ? [id] : []))
  if (ids.length === 0) return new Map()
  const { amount, currency, period } = licencePrices
  const found = await db
    .select({ id: findings.id, amount, currency, period })
    .from(findings)
    .innerJoin(licencePrices, eq(licencePrices.entitlementId, findings.entitlementId))
    .where(inArray(findings.id, ids))
  return new Map(
    found.map(({ id, amount, ...rest }) => [id, { amount: shortened(amount), ...rest }]),
  )
}

/** Returns rows by their ids. Runs no query if there are no ids. */
async function byId<R extends { id: string }>(
  ids: readonly string[],
  ask: (ids: string[]) => Promise<R[]>,
): Promise<Map<string, R>> {
  const rows = ids.length === 0 ? [] : await ask([...ids])
  return new Map(rows.map((row) => [row.id, row]))
}
