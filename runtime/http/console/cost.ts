/** Costs of apps: licences with seats and prices, unused seats, and expenses by month. */
import { html } from 'hono/html'
import { ENDPOINTS, queryOf } from '../../contract/endpoints/table.ts'
import type { Licence } from '../../contract/models/cost.ts'
import { UNUSED_DAYS } from '../../contract/models/finding.ts'
import { accountNames } from '../../core/catalogue/apps/accounts.ts'
import { listExpenses, listExpenseTotals } from '../../core/cost/expenses.ts'
import { listLicences } from '../../core/cost/licences.ts'
import { listFindings } from '../../core/findings/read.ts'
import { CSV_TYPE, csvOf } from '../core/csv.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { SIDE } from '../frame/side.ts'
import { pageNumber } from '../pages/access.ts'
import { pagesNav, whole } from '../pages/parts.ts'
import { accountCalled } from './findings.ts'
import { answerPage, brief, type Column, go, listed, thousands } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

const SIZE = 50
const { path: PATH } = SIDE.cost

const licencePath = (id: string): string => `/console/licences/${encodeURIComponent(id)}`

/** Formats a price. */
export const priceWords = (
  t: PageLocale,
  { amount, currency, period }: NonNullable<Licence['price']>,
): string => `${amount} ${currency} ${t.console.cost.each[period]}`

export async function showCost(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal, t } = visit
  const page = pageNumber(c.req.query('page'))
  const of = queryOf('list_licences', { page, size: SIZE })
  const licences = await listLicences(db, principal, of)
  const mayWrite = principal.permissions.has('expenses.write') && !principal.readOnly
  const content = html`${licencesOf(t, licences, mayWrite)}
${principal.permissions.has('findings.read') ? await idleSeats(visit) : ''}
${await totalsOf(visit)}`
  return answerPage(visit, {
    ...{ place: 'cost', isPlace: true },
    ...{ title: t.console.cost.title, lead: t.console.cost.lead, content },
  })
}

function licencesOf(
  t: PageLocale,
  found: Awaited<ReturnType<typeof listLicences>>,
  mayWrite: boolean,
): Markup {
  const w = t.console.cost
  const columns: Column[] = [
    w.licence,
    [w.app, 'c3'],
    [w.held, 'num'],
    [w.used(UNUSED_DAYS), 'num'],
    w.price,
    [w.idle, 'num'],
  ]
  const rows = found.items.map((one) => [
    brief(one.label, 120),
    html`<a href="/console/apps/${one.app_id}">${brief(one.app_name, 80)}</a>`,
    thousands(one.seats_held, t),
    typeof one.seats_used === 'number' ? thousands(one.seats_used, t) : w.unknown,
    priceOf(t, one, mayWrite),
    one.idle_amount && one.price ? priceWords(t, { ...one.price, amount: one.idle_amount }) : '–',
  ])
  return listed(
    {
      ...{ id: 'licences', title: w.licences, count: found.total },
      end: html`<a href="${PATH}/licences.csv" download>${w.csv}</a>`,
    },
    columns,
    rows,
    { title: w.noLicences, text: w.noLicencesText },
    t,
    pagesNav(t, found, w.licences, (page) => `${PATH}?page=${page}`),
  )
}

function priceOf(t: PageLocale, { id, label, price }: Licence, mayWrite: boolean): Markup {
  const named = html`<span class="unseen"> ${brief(label, 80)}</span>`
  const words = price ? priceWords(t, price) : '–'
  if (!mayWrite) return html`${words}`
  const at = licencePath(id)
  return price
    ? html`${words} ${go(`${at}/price`, html`${t.console.cost.change}${named}`)}${go(`${at}/no-price`, html`${t.console.cost_change.forget.button}${named}`)}`
    : go(`${at}/price`, html`${t.console.cost.noPrice}${named}`)
}

/** Query for the findings about unused seats. */
const IDLE = queryOf('list_findings', { state: ['OPEN'], kind: ['UNUSED_LICENCE'] })

async function idleSeats({ db, principal, now, t }: ConsoleVisit): Promise<Markup> {
  const w = t.console.cost
  const found = await listFindings(db, principal, { ...IDLE, size: SIZE })
  const columns: Column[] = [w.account, w.licence, [w.app, 'c3'], w.unusedSince, [w.price, 'num']]
  const names = await accountNames(db, found.items)
  const rows = found.items.map((one) => {
    const account = accountCalled(names, one)
    const { last_used: used, amount, currency } = one.details
    return [
      html`${whole(brief(account, 120))}${one.user_email && one.user_email !== account ? html`<span class="sub">${whole(one.user_email)}</span>` : ''}`,
      brief(one.label ?? '', 120),
      brief(one.app_name ?? '', 80),
      typeof used === 'string' ? t.day(new Date(used), now) : w.never,
      typeof amount === 'string' ? `${amount} ${String(currency)}` : '–',
    ]
  })
  return listed(
    {
      id: 'idle',
      title: w.idleSeats,
      note: w.idleSeatsNote,
      count: found.total,
      end: html`<a href="${PATH}/idle-seats.csv" download>${w.csv}</a>`,
    },
    columns,
    rows,
    { title: w.noIdle, text: w.noIdleText },
    t,
  )
}

async function totalsOf({ db, principal, t }: ConsoleVisit): Promise<Markup> {
  const w = t.console.cost
  const query = queryOf('list_expense_totals', { size: SIZE })
  const found = await listExpenseTotals(db, principal, query)
  const columns: Column[] = [w.month, w.app, [w.amount, 'num'], [w.count, 'num']]
  const rows = found.items.map((one) => [
    one.month,
    brief(one.app_name, 80),
    one.amount ? `${one.amount} ${one.currency ?? ''}` : w.noAmount,
    thousands(one.expenses, t),
  ])
  return listed(
    {
      ...{ id: 'totals', title: w.totals, count: found.total },
      end: html`<a href="${PATH}/expenses.csv" download>${w.csv}</a>`,
    },
    columns,
    rows,
    { title: w.noExpenses, text: w.noExpensesText },
    t,
  )
}

type CsvOf = Parameters<typeof csvOf>

/** Sends a whole list as a CSV file. */
async function sendCsv({ c, db }: ConsoleVisit, file: string, row: CsvOf[1], read: CsvOf[2]) {
  return c.body(await csvOf(db, row, read), 200, {
    'content-type': CSV_TYPE,
    'content-disposition': `attachment; filename="${file}"`,
  })
}

export const sendLicences = (visit: ConsoleVisit): Promise<Response> =>
  sendCsv(visit, 'licences.csv', ENDPOINTS.list_licences, (tx, page) =>
    listLicences(tx, visit.principal, queryOf('list_licences', page)),
  )

/** Sends all unused seats within the caller's reach, as in the list. @throws CoreError `forbidden` */
export const sendIdleSeats = (visit: ConsoleVisit): Promise<Response> =>
  sendCsv(visit, 'idle-seats.csv', ENDPOINTS.list_findings, (tx, page) =>
    listFindings(tx, visit.principal, { ...IDLE, ...page }),
  )

export const sendExpenses = (visit: ConsoleVisit): Promise<Response> =>
  sendCsv(visit, 'expenses.csv', ENDPOINTS.list_recorded_expenses, (tx, page) =>
    listExpenses(tx, visit.principal, queryOf('list_recorded_expenses', page)),
  )
