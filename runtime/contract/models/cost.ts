/** Cost of apps: expenses as reported by syncs, their totals, and licences with their seats. Keyway's own. */
import * as v from 'valibot'
import { described, nullable, strictObject, utcMoment } from '../schema/schemas.ts'
import { UNUSED_DAYS } from './finding.ts'

const decimal = described(v.string(), 'A decimal number')
const currencyCode = described(v.string(), 'ISO 4217')

export const EXPENSE_TYPES = ['reimbursement', 'card_transaction'] as const
export const PERIODS = ['MONTH', 'YEAR'] as const

export const RecordedExpense = strictObject(
  'RecordedExpense',
  'An expense, as reported by the last sync',
  {
    id: v.string(),
    app_id: v.string(),
    external_id: described(v.string(), 'Id of the expense in the app'),
    transaction_date: utcMoment,
    amount: nullable(described(v.string(), 'Null if the app did not report a valid amount')),
    currency: nullable(currencyCode),
    seller: nullable(v.string()),
    description: v.string(),
    submitter: nullable(v.string()),
    user_id: nullable(v.string()),
    type: v.picklist(EXPENSE_TYPES),
  },
)
export type RecordedExpense = v.InferInput<typeof RecordedExpense>

export const ExpenseTotal = strictObject(
  'ExpenseTotal',
  'Total expenses of an app in one month and one currency. Currencies are never added up',
  {
    app_id: v.string(),
    app_name: v.string(),
    month: described(v.string(), 'Such as 2026-03'),
    currency: nullable(currencyCode),
    amount: nullable(decimal),
    expenses: described(v.number(), 'Number of expenses'),
  },
)
export type ExpenseTotal = v.InferInput<typeof ExpenseTotal>

const price = { amount: decimal, currency: currencyCode, period: v.picklist(PERIODS) }

export const Licence = strictObject('Licence', 'A paid entitlement, and its seats', {
  id: described(v.string(), 'Id of the entitlement'),
  app_id: v.string(),
  app_name: v.string(),
  entitlement_type: v.string(),
  entitlement_id: described(v.string(), 'Id of the entitlement in the app'),
  label: v.string(),
  seats_held: described(v.number(), 'Active accounts that hold it'),
  seats_used: nullable(
    described(
      v.number(),
      `Of those, used within ${UNUSED_DAYS} days; null if the app does not report it`,
    ),
  ),
  price: nullable(strictObject('LicencePrice', price)),
  idle_amount: nullable(described(v.string(), 'Cost of unused seats')),
})
export type Licence = v.InferInput<typeof Licence>

export const LicencePriceInput = strictObject('LicencePriceInput', {
  amount: v.pipe(
    v.string(),
    v.regex(/^\d{1,12}(\.\d{1,6})?$/, 'a decimal number such as 12.50'),
    v.metadata({ description: 'Price of one seat: a decimal number such as 12.50' }),
  ),
  currency: v.pipe(
    v.string(),
    v.regex(/^[A-Z]{3}$/, 'a currency by its three letters, such as EUR'),
    v.metadata({ description: 'ISO 4217, such as EUR' }),
  ),
  period: v.picklist(PERIODS),
})
export type LicencePriceInput = v.InferOutput<typeof LicencePriceInput>
