/** Charges of GitHub to the organisation, from its monthly usage reports. */
import {
  ConnectorError,
  chain,
  type Input,
  type Listing,
  type Output,
  type Paged,
  paged,
  path,
  readJson,
} from 'keyway/sdk'
import { type Ctx, service } from './service.ts'

type Expense = Output<'list_expenses'>[number]

/** Line of a usage report. */
type UsageItem = {
  date: string
  product: string
  sku: string
  quantity: number
  unitType: string
  pricePerUnit: number
  netAmount: number
  repositoryName?: string
}

/** Maximum number of months to read. GitHub reports only the last 24. */
const MAX_MONTHS = 24

/** Returns one page per month, oldest first. */
export const listExpenses = (
  { filters }: Input<'list_expenses'>,
  ctx: Ctx,
): Promise<Paged<Expense[]>> =>
  chain<Expense>(ctx, { usage: usage(ctx, monthsOf(filters.transaction_date ?? {}, new Date())) })

type Month = { year: number; month: number }

/** Returns the months that overlap a date range, up to the current month. */
export function monthsOf(
  { start_date, end_date }: { start_date?: string | undefined; end_date?: string | undefined },
  now: Date,
): Month[] {
  const last = dateOf(end_date) ?? now
  const first =
    dateOf(start_date) ?? new Date(Date.UTC(last.getUTCFullYear(), last.getUTCMonth() - 11))
  const indexOf = (at: Date) => at.getUTCFullYear() * 12 + at.getUTCMonth()
  const end = Math.min(indexOf(last), indexOf(now))
  const begin = Math.max(indexOf(first), end - MAX_MONTHS + 1)
  return Array.from({ length: Math.max(0, end - begin + 1) }, (_, n) => ({
    year: Math.floor((begin + n) / 12),
    month: ((begin + n) % 12) + 1,
  }))
}

function dateOf(text: string | undefined): Date | null {
  if (text === undefined) return null
  const at = new Date(text)
  if (Number.isNaN(at.getTime()))
    throw new ConnectorError('bad_request', `${JSON.stringify(text)} is no date`)
  return at
}

const usage =
  (ctx: Ctx, months: readonly Month[]): Listing<Expense> =>
  async ({ cursor }) => {
    const at = typeof cursor === 'number' ? cursor : 0
    const month = months[at]
    if (month === undefined) return paged([])
    const organization = ctx.settings.organization
    const reply = await service(ctx).request(
      'GET',
      path`/organizations/${organization}/settings/billing/usage`,
      { query: month },
    )
    const { usageItems = [] } = await readJson<{ usageItems?: UsageItem[] }>(reply)
    if (!Array.isArray(usageItems))
      throw new ConnectorError('invalid_response', 'The billing did not answer with a list')
    const idOf = ids()
    const items = usageItems.map((item) => toExpense(organization, item, idOf(item)))
    return paged(items, at + 1 < months.length ? at + 1 : undefined)
  }

/**
 * Returns a function that makes ids for the lines of a report, which have none. An id consists of the line's
 * date, product, SKU and repository, and a counter if several lines share these.
 */
function ids(): (item: UsageItem) => string {
  const seen = new Map<string, number>()
  return ({ date, product, sku, repositoryName = '' }) => {
    const about = [date.slice(0, 10), product, sku, repositoryName].join('/')
    const place = (seen.get(about) ?? 0) + 1
    seen.set(about, place)
    return place === 1 ? about : `${about}/${place}`
  }
}

const toExpense = (organization: string, item: UsageItem, id: string): Expense => {
  const { date, product, sku, quantity, unitType, pricePerUnit, netAmount, repositoryName } = item
  return {
    id,
    transaction_date: date,
    // GitHub bills in US dollars only.
    total_amount: { amount: netAmount, currency: 'USD' },
    seller: { name: 'GitHub' },
    description: `${sku}: ${quantity} ${unitType} at ${pricePerUnit}`,
    submitter: { name: organization },
    type: 'card_transaction',
    approval_status: {},
    payment_status: {},
    attributes: { product, sku, ...(repositoryName ? { repository: repositoryName } : {}) },
  }
}
