/** Writing what a look found: only differences, so that looking twice changes nothing. */
import { type SQL, sql } from 'drizzle-orm'
import { FINDINGS } from '../../contract/models/finding.ts'
import type { Db } from '../../database/database.ts'
import { MOMENT } from '../history/spans.ts'
import { differenceOf } from './difference.ts'
import type { Found } from './rules.ts'

/** What a look is about: where its findings belong. */
export type Where = { domainId: string; appId: string | null; lastRun: number | null }

/** Opens and resolves; `which` are the findings that the look would have found again. */
export async function writeFound(
  tx: Db,
  where: Where,
  found: readonly Found[],
  which: SQL,
): Promise<void> {
  const { domainId, appId } = where
  const { rows } = await tx.execute<{ id: string; kind: string; subject: string }>(sql`
    select id, kind, subject from findings
    where domain_id = ${domainId} and app_id is not distinct from ${appId}::uuid
      and resolved_at is null and ${which}`)
  const { open, resolve } = differenceOf(found, rows)
  await insert(tx, where, open)
  await resolveThose(tx, where, resolve)
}

async function insert(
  tx: Db,
  { domainId, appId, lastRun }: Where,
  found: readonly Found[],
): Promise<void> {
  if (found.length === 0) return
  const list = found.map(
    ({ kind, subject, accountId, userId, entitlementId, ruleId, details = {} }) => ({
      ...{ kind, subject, details, severity: FINDINGS[kind].severity },
      ...{ account_id: accountId, user_id: userId, entitlement_id: entitlementId, rule_id: ruleId },
    }),
  )
  await tx.execute(sql`
    insert into findings (domain_id, app_id, opened_run, opened_at, kind, subject, severity, account_id, user_id,
      entitlement_id, rule_id, details)
    select ${domainId}::uuid, ${appId}::uuid, ${lastRun}::bigint, ${MOMENT}, f.kind, f.subject, f.severity, f.account_id,
      f.user_id, f.entitlement_id, f.rule_id, f.details
    from json_to_recordset(${JSON.stringify(list)}::json) as f(kind text, subject text, severity text, account_id uuid,
      user_id uuid, entitlement_id bigint, rule_id uuid, details jsonb)
    on conflict do nothing`)
}

async function resolveThose(tx: Db, { lastRun }: Where, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx.execute(sql`
    update findings set state = 'RESOLVED', resolved_at = ${MOMENT}, resolved_run = ${lastRun}::bigint, updated_at = now()
    where id = any(${sql.param([...ids])}::uuid[])`)
}

/** Resolves findings of accounts that are no longer there. */
export async function resolveGone(tx: Db, { domainId, appId, lastRun }: Where): Promise<void> {
  await tx.execute(sql`
    update findings f set state = 'RESOLVED', resolved_at = ${MOMENT}, resolved_run = ${lastRun}::bigint, updated_at = now()
    where f.domain_id = ${domainId} and f.app_id = ${appId} and f.resolved_at is null and f.account_id is not null
      and not exists (select from account_spans s where s.account_id = f.account_id and s.until is null)`)
}

/** Opens again what was accepted until now; answers when the next acceptance ends. */
export async function endAcceptances(
  tx: Db,
  { domainId, appId }: Where,
  now: Date,
): Promise<Date | null> {
  const mine = sql`domain_id = ${domainId} and app_id is not distinct from ${appId}::uuid
    and state = 'ACCEPTED' and accepted_until is not null`
  await tx.execute(sql`
    update findings set state = 'OPEN', accepted_until = null, updated_at = now()
    where ${mine} and accepted_until <= ${now.toISOString()}::timestamptz`)
  const { rows } = await tx.execute<{ next: string | null }>(
    sql`select min(accepted_until) as next from findings where ${mine}`,
  )
  const next = rows[0]?.next ?? null
  return next === null ? null : new Date(next)
}
