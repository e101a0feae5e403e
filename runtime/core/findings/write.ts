/** Writing the results of a look. Writes only differences, so looking twice changes nothing. */
import { type SQL, sql } from 'drizzle-orm'
import { FINDINGS } from '../../contract/models/finding.ts'
import type { Db } from '../../database/database.ts'
import { MOMENT } from '../history/as-of.ts'
import { findingChanges } from './difference.ts'
import { type LoggedFinding, recordFinding, recordLook } from './record.ts'
import type { FoundIssue } from './rules.ts'

/** Columns that the log needs. */
const TOLD = sql`id, kind, app_id as "appId", account_id as "accountId", user_id as "userId"`

/** Scope of a look: the domain, app and sync run that its findings belong to. */
export type Where = { domainId: string; appId: string | null; lastRun: number | null }

/** Opens new findings and resolves old ones. `which` selects those this look would find again. */
export async function writeFound(
  tx: Db,
  where: Where,
  found: readonly FoundIssue[],
  which: SQL,
): Promise<void> {
  const { domainId, appId } = where
  const { rows } = await tx.execute<LoggedFinding & { subject: string }>(sql`
    select ${TOLD}, subject from findings
    where domain_id = ${domainId} and app_id is not distinct from ${appId}::uuid
      and resolved_at is null and ${which}`)
  const { open, resolve } = findingChanges(found, rows)
  await insert(tx, where, open)
  const gone = new Set(resolve)
  await resolveThose(tx, where, resolve)
  await recordLook(
    tx,
    where,
    'RESOLVED',
    rows.filter(({ id }) => gone.has(id)),
  )
}

async function insert(tx: Db, where: Where, found: readonly FoundIssue[]): Promise<void> {
  if (found.length === 0) return
  const { domainId, appId, lastRun } = where
  const list = found.map(
    ({ kind, subject, accountId, userId, entitlementId, ruleId, details = {} }) => ({
      ...{ kind, subject, details, severity: FINDINGS[kind].severity },
      ...{ account_id: accountId, user_id: userId, entitlement_id: entitlementId, rule_id: ruleId },
    }),
  )
  const { rows } = await tx.execute<LoggedFinding>(sql`
    insert into findings (domain_id, app_id, opened_run, opened_at, kind, subject, severity, account_id, user_id,
      entitlement_id, rule_id, details)
    select ${domainId}::uuid, ${appId}::uuid, ${lastRun}::bigint, ${MOMENT}, f.kind, f.subject, f.severity, f.account_id,
      f.user_id, f.entitlement_id, f.rule_id, f.details
    from json_to_recordset(${JSON.stringify(list)}::json) as f(kind text, subject text, severity text, account_id uuid,
      user_id uuid, entitlement_id bigint, rule_id uuid, details jsonb)
    on conflict do nothing returning ${TOLD}`)
  await recordLook(tx, where, 'OPENED', rows)
}

async function resolveThose(tx: Db, { lastRun }: Where, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx.execute(sql`
    update findings set state = 'RESOLVED', resolved_at = ${MOMENT}, resolved_run = ${lastRun}::bigint, updated_at = now()
    where id = any(${sql.param([...ids])}::uuid[])`)
}

/** Resolves the findings of accounts that no longer exist. */
export async function resolveGone(tx: Db, where: Where): Promise<void> {
  const { domainId, appId, lastRun } = where
  const { rows } = await tx.execute<LoggedFinding>(sql`
    update findings f set state = 'RESOLVED', resolved_at = ${MOMENT}, resolved_run = ${lastRun}::bigint, updated_at = now()
    where f.domain_id = ${domainId} and f.app_id = ${appId} and f.resolved_at is null and f.account_id is not null
      and not exists (select from account_spans s where s.account_id = f.account_id and s.until is null)
    returning ${TOLD}`)
  await recordLook(tx, where, 'RESOLVED', rows)
}

/** Reopens findings whose acceptance has ended. Returns the end of the next acceptance, or null. */
export async function endAcceptances(
  tx: Db,
  { domainId, appId }: Where,
  now: Date,
): Promise<Date | null> {
  const mine = sql`domain_id = ${domainId} and app_id is not distinct from ${appId}::uuid
    and state = 'ACCEPTED' and accepted_until is not null`
  const { rows: over } = await tx.execute<LoggedFinding>(sql`
    update findings set state = 'OPEN', accepted_until = null, updated_at = now()
    where ${mine} and accepted_until <= ${now.toISOString()}::timestamptz returning ${TOLD}`)
  for (const one of over)
    await recordFinding(tx, { domainId, userId: null }, 'FINDING_REOPENED', one, {
      because: 'the period for which it was accepted has ended',
    })
  const { rows } = await tx.execute<{ next: string | null }>(
    sql`select min(accepted_until) as next from findings where ${mine}`,
  )
  const next = rows[0]?.next ?? null
  return next === null ? null : new Date(next)
}
