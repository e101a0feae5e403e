/**
 * Writes pages of expenses. A system that denies access to them does not stop the sync: accounts matter more.
 */
import { sql } from 'drizzle-orm'
import type { Output } from '../../contract/capabilities/capabilities.ts'
import { isRecord } from '../../contract/schema/record.ts'
import { later } from '../kernel/jobs/retry-schedules.ts'
import { isKeepable } from '../kernel/kept-text.ts'
import { SyncFailure } from './failures.ts'
import { asRows, type SyncListing, walkListing } from './listing.ts'
import { checkpoint, type RunRow, toNext, type Walk } from './runs.ts'
import { lastOfEach, listedText, MAX_ID } from './storable-texts.ts'
import { writeRows } from './write-rows.ts'

type Told = Output<'list_expenses'>[number]

/** Number of past days for which expenses are requested. Older ones stay as listed. */
const DAYS = 400

/** Error codes of a system that does not allow reading expenses. Those of earlier runs stay. */
const REFUSED = ['permission_denied', 'not_found', 'not_implemented']

/** Returns the start of the period for which a run requests expenses. It is the same for all of its pages. */
export const expensesSince = ({ createdAt }: Pick<RunRow, 'createdAt'>): Date =>
  new Date(later(createdAt, -DAYS * 86_400_000).setUTCHours(0, 0, 0, 0))

export async function walkExpenses(walk: Walk): Promise<void> {
  try {
    await walkListing(walk, EXPENSES)
  } catch (error) {
    if (!(error instanceof SyncFailure) || !REFUSED.includes(error.code ?? '')) throw error
    await checkpoint(walk, async () => ({
      ...toNext(walk),
      skipped: [...walk.run.skipped, walk.run.phase],
    }))
  }
}

export const EXPENSES: SyncListing<Told, ExpenseRow[]> = {
  capability: 'list_expenses',
  request: ({ run }) => ({
    filters: { transaction_date: { start_date: expensesSince(run).toISOString() } },
  }),
  arrive: asRows,
  prepare(_walk, arrived) {
    const found = arrived.flat()
    const kept = found.flatMap((one) => rowOf(one) ?? [])
    const rows = lastOfEach(kept, ({ external }) => external)
    return { rows, left_out: found.length - kept.length, repeats: rows.length < kept.length }
  },
  write(tx, { run, app }, rows, { isNew }) {
    return writeRows(tx, {
      ...{ isNew, count: rows.length, run: run.id },
      given: sql`select * from json_to_recordset(${JSON.stringify(rows)}::json) as row(external text, at timestamptz,
        amount numeric, currency text, seller text, description text, submitter text, type text)`,
      insert: sql`
        insert into expenses (domain_id, app_id, external_id, transaction_date, amount, currency, seller, description,
          submitter, user_id, type, seen_run)
        select ${app.domainId}, ${app.id}, row.external, row.at, row.amount, row.currency, row.seller, row.description,
          row.submitter, (select id from users where domain_id = ${app.domainId}
            and lower(email) = lower(row.submitter)), row.type, ${run.id}
        from row`,
      update: sql`on conflict (app_id, md5(external_id)) do update set
        transaction_date = excluded.transaction_date, amount = excluded.amount, currency = excluded.currency,
        seller = excluded.seller, description = excluded.description, submitter = excluded.submitter,
        user_id = excluded.user_id, type = excluded.type, seen_run = excluded.seen_run,
        updated_at = now()`,
      old: sql`select seen_run from expenses where expenses.app_id = ${app.id}
        and md5(expenses.external_id) = md5(row.external)`,
    })
  },
  // Delete expenses in the requested period that are no longer listed. Older ones stay.
  async end(tx, { run, app }) {
    await tx.execute(sql`delete from expenses where app_id = ${app.id} and seen_run <> ${run.id}
      and transaction_date >= ${expensesSince(run).toISOString()}::timestamptz`)
  },
}

type ExpenseRow = NonNullable<ReturnType<typeof rowOf>>

/** Converts an expense to its row. Returns null if its id or time cannot be stored. */
export function rowOf(told: Told) {
  const at = new Date(told.transaction_date)
  const usable = at.getUTCFullYear() > 1900 && at.getUTCFullYear() < 10_000
  if (!isKeepable(told.id, MAX_ID) || !usable) return null
  return {
    external: told.id,
    at: at.toISOString(),
    ...moneyOf(told.total_amount),
    seller: textOf(told.seller, ['name', 'label', 'id']),
    description: listedText(told.description),
    submitter: textOf(told.submitter, ['email', 'name', 'id']),
    type: told.type,
  }
}

/** Returns the first of the named members that is a nonempty text. */
function textOf(value: unknown, names: readonly string[]): string | null {
  const members = isRecord(value) ? value : {}
  const found = names
    .map((name) => members[name])
    .find((one) => typeof one === 'string' && one !== '')
  return typeof found === 'string' ? listedText(found) : null
}

/**
 * Parses an amount of money. connector-interface.md section 2.9 leaves its members open, so common names are
 * accepted. Returns both parts or neither: an amount without a currency could be added to anything.
 */
export function moneyOf(value: unknown): { amount: string | null; currency: string | null } {
  const members = isRecord(value) ? value : {}
  const amount = [members['amount'], members['value']].find((one) => one !== undefined)
  const currency = [members['currency'], members['currency_code']].find(
    (one) => typeof one === 'string',
  )
  const text = typeof amount === 'number' ? plain(amount) : typeof amount === 'string' ? amount : ''
  const isMoney = /^-?\d{1,12}(\.\d{1,6})?$/.test(text)
  const code = typeof currency === 'string' ? currency.toUpperCase() : ''
  if (!isMoney || !/^[A-Z]{3}$/.test(code)) return { amount: null, currency: null }
  return { amount: text, currency: code }
}

/** Formats a number without an exponent, rounded to six decimals. */
const plain = (value: number): string =>
  Number.isFinite(value) && Math.abs(value) < 1e12 ? String(Number(value.toFixed(6))) : ''
