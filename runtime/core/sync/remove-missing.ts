/**
 * Missing: not seen by this run. Gone: missing and recorded as such (`gone_at`).
 *
 * Marks missing accounts, entitlements and resources as gone, and deletes missing associations;
 * `history/association-spans.ts` ends their spans at the end of the run. If the connector can look up an
 * account by id, each missing account is confirmed first: a listing may miss one when the upstream changes
 * during it.
 */

import { sql } from 'drizzle-orm'
import { STANDINGS } from '../../contract/models/app.ts'
import type { Db } from '../../database/database.ts'
import { callApp } from '../catalogue/apps/connections.ts'
import { deleteAssociations } from '../history/association-spans.ts'
import { responseOf } from '../kernel/context/connectors.ts'
import { syncFailureOf } from './failures.ts'
import { walkOffers } from './listing.ts'
import { checkpoint, countedBefore, type Progress, toNext, type Walk } from './runs.ts'

/** Number of accounts confirmed or marked per step. */
const CONFIRMED_AT_ONCE = 8
const MARKED_AT_ONCE = 5000

/**
 * Status of a missing account: confirmed by get_account (`not_found`), or known only to be missing from the
 * listing.
 */
const CONFIRMED = 'DEPROVISIONED'
const UNLISTED = 'ACCESS_REMOVED'

type Verdict = { external: string; status: string; gone: boolean }

/**
 * Confirms the missing accounts and marks them, each once: a marked account is not read again. The
 * associations of a gone account are deleted by `deleteMissingAssociations`, since no page listed them, unless
 * that listing was skipped.
 */
export async function markAccounts(walk: Walk): Promise<void> {
  if (!mayBeMissing(walk, 'accounts')) return checkpoint(walk, async () => toNext(walk))
  const confirms = walkOffers(walk, 'get_account')
  while (!walk.over()) {
    const missing = await missingAccounts(walk, confirms ? CONFIRMED_AT_ONCE : MARKED_AT_ONCE)
    if (missing.length === 0) return checkpoint(walk, async () => toNext(walk))
    const verdicts = confirms
      ? await Promise.all(missing.map((external) => confirm(walk, external)))
      : missing.map((external) => ({ external, status: UNLISTED, gone: true }))
    await checkpoint(walk, (tx) => mark(tx, walk, verdicts))
  }
}

const mayBeMissing = ({ run }: Walk, phase: 'accounts' | 'associations'): boolean =>
  !run.skipped.includes(phase) && countedBefore(run, phase) > 0

async function missingAccounts({ db, app, run }: Walk, count: number): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    select unique_identifier as id from accounts
    where app_id = ${app.id} and gone_at is null and seen_run < ${run.id}
    order by unique_identifier limit ${count}`)
  return rows.map(({ id }) => id)
}

/** Looks up a missing account. @throws SyncFailure */
async function confirm({ parts, app }: Walk, external: string): Promise<Verdict> {
  const request = { account_id: external, custom_attributes: [] }
  const answer = await callApp(parts, app, 'get_account', { request })
  if (answer.ok) {
    const { user_status } = responseOf('get_account', answer)
    const status = STANDINGS[user_status ?? 'ACTIVE']
    return { external, status, gone: status === CONFIRMED }
  }
  // Keyway itself also uses this code, if the connector does not exist. Then `raised_by` is null.
  if (answer.error.error_code === 'not_found' && answer.error.raised_by !== null)
    return { external, status: CONFIRMED, gone: true }
  throw syncFailureOf('get_account', answer)
}

async function mark(tx: Db, { app, run }: Walk, verdicts: Verdict[]): Promise<Progress> {
  await tx.execute(sql`
    update accounts set status = row.status, updated_at = now(),
      gone_at = case when row.gone then now() end,
      seen_run = case when row.gone then accounts.seen_run else ${run.id} end
    from json_to_recordset(${JSON.stringify(verdicts)}::json)
      as row(external text, status text, gone boolean)
    where accounts.app_id = ${app.id} and accounts.unique_identifier = row.external`)
  const gone = verdicts.filter((one) => one.gone).length
  return { counted: { accounts_gone: gone, accounts_confirmed: verdicts.length - gone } }
}

/** Number of associations checked per step. */
const DELETED_AT_ONCE = 50_000

/** Cursor before the first association. */
const FIRST = ''

/**
 * Marks missing entitlements and resources as gone. Does nothing if the cursor is set: they are marked then,
 * and the deletion of associations has begun.
 */
export async function markEntitlements(walk: Walk): Promise<void> {
  const { run } = walk
  if (run.cursor !== null) return
  const seen = (phase: string): boolean => !run.skipped.includes(phase)
  await checkpoint(walk, async (tx) => ({
    cursor: FIRST,
    counted: {
      entitlements_gone: seen('entitlements') ? await markTable(tx, 'entitlements', walk) : 0,
      resources_gone: seen('resources') ? await markTable(tx, 'resources', walk) : 0,
    },
  }))
}

/** Deletes missing associations in the order of their key. */
export async function deleteMissingAssociations(walk: Walk): Promise<void> {
  const { app, run, db } = walk
  if (!mayBeMissing(walk, 'associations')) return checkpoint(walk, async () => toNext(walk))
  while (!walk.over()) {
    const [account = NO_ID, entitlement = '0'] = (run.cursor ?? FIRST).split(' ').filter(Boolean)
    const { rows } = await db.execute<{ account: string; entitlement: string }>(sql`
      select account_id as account, entitlement_id as entitlement from associations
      where app_id = ${app.id} and (account_id, entitlement_id) > (${account}, ${entitlement})
      order by account_id, entitlement_id offset ${DELETED_AT_ONCE - 1} limit 1`)
    const [last] = rows
    await checkpoint(walk, async (tx) => {
      const missing = sql`gone.seen_run < ${run.id}
        and (gone.account_id, gone.entitlement_id) > (${account}, ${entitlement})
        ${last ? sql`and (gone.account_id, gone.entitlement_id) <= (${last.account}, ${last.entitlement})` : sql``}`
      const counted = { associations_gone: await deleteAssociations(tx, app.id, missing) }
      return last
        ? { cursor: `${last.account} ${last.entitlement}`, counted }
        : { ...toNext(walk), counted }
    })
    if (!last) return
  }
}

/** Id lower than that of every account. */
const NO_ID = '00000000-0000-0000-0000-000000000000'

async function markTable(
  tx: Db,
  table: 'entitlements' | 'resources',
  { app, run }: Walk,
): Promise<number> {
  const { rowCount } = await tx.execute(sql`
    update ${sql.identifier(table)} set gone_at = now()
    where app_id = ${app.id} and gone_at is null and seen_run < ${run.id}`)
  return rowCount ?? 0
}
