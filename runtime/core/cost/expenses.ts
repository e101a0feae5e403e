/** Expenses as on the wire, and their totals. */
import { and, desc, eq, gte, lt, sql } from 'drizzle-orm'
import type { QueryOf } from '../../contract/endpoints/table.ts'
import type { ExpenseTotal, RecordedExpense } from '../../contract/models/cost.ts'
import type { Db } from '../../database/database.ts'
import { expenses } from '../../database/schema/expenses.ts'
import { idEquals } from '../kernel/by-id.ts'
import { shortened } from '../kernel/decimal.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { type ListPage, selectPage } from '../kernel/list/page.ts'

type Query = QueryOf<'list_recorded_expenses'>

const which = ({ domainId }: Principal, { app_id, since, until }: Query) =>
  and(
    eq(expenses.domainId, domainId),
    idEquals(expenses.appId, app_id),
    since === null ? undefined : gte(expenses.transactionDate, since),
    until === null ? undefined : lt(expenses.transactionDate, until),
  )

/** Lists expenses, newest first. */
export const listExpenses = (db: Db, principal: Principal, query: Query) => {
  const where = which(principal, query)
  const order = [desc(expenses.transactionDate), desc(expenses.id)]
  return selectPage(db, expenses, { where, order }, query, (rows) => rows.map(toExpense))
}

const toExpense = (row: typeof expenses.$inferSelect): RecordedExpense => ({
  id: String(row.id),
  app_id: row.appId,
  external_id: row.externalId,
  transaction_date: row.transactionDate.toISOString(),
  amount: row.amount === null ? null : shortened(row.amount),
  currency: row.currency,
  seller: row.seller,
  description: row.description,
  submitter: row.submitter,
  user_id: row.userId,
  type: row.type,
})

/**
 * Returns totals by app, month and currency, sorted by month, newest first, then by name. Amounts in
 * different currencies are never added.
 */
export async function listExpenseTotals(
  db: Db,
  principal: Principal,
  query: Query,
): Promise<ListPage<ExpenseTotal>> {
  const { page, size } = query
  const isRecent = sql`${expenses.transactionDate} >= date_trunc('month', now()) - interval '11 months'`
  const { rows } = await db.execute<
    Omit<ExpenseTotal, 'expenses'> & { n: string; total: string }
  >(sql`
    select ${expenses.appId} as app_id, apps.name as app_name, months.month,
      ${expenses.currency} as currency, sum(${expenses.amount})::text as amount, count(*) as n,
      count(*) over () as total
    from ${expenses} join apps on apps.id = ${expenses.appId}
    cross join lateral (select to_char(${expenses.transactionDate} at time zone 'UTC', 'YYYY-MM') as month) months
    where ${and(which(principal, query), query.since === null ? isRecent : undefined)}
    group by 1, 2, 3, 4
    order by months.month desc, apps.name, 1, ${expenses.currency}
    limit ${size} offset ${(page - 1) * size}`)
  const total =
    rows.length > 0 || page === 1
      ? Number(rows[0]?.total ?? 0)
      : (await listExpenseTotals(db, principal, { ...query, page: 1, size: 1 })).total
  const items = rows.map(({ n, total: _, amount, ...row }) => ({
    ...row,
    amount: amount === null || amount === undefined ? null : shortened(amount),
    expenses: Number(n),
  }))
  return { items, total, page, size, pages: Math.ceil(total / size) }
}
