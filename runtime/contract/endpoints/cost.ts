/** Cost of apps. Keyway's own. */
import { ExpenseTotal, Licence, LicencePriceInput, RecordedExpense } from '../models/cost.ts'
import { endpoint } from './endpoint.ts'
import { datetime, text } from './params.ts'

const cost = endpoint('Cost')

const within = {
  app_id: text().describe('Only of this app'),
  since: datetime().describe('Only from this time on'),
  until: datetime().describe('Only before this time'),
}

export const COST_ENDPOINTS = {
  list_recorded_expenses: cost.page('/expenses', {
    summary: 'List expenses reported by apps, newest first',
    who: 'expenses.read',
    query: { ...within },
    output: RecordedExpense,
  }),
  list_expense_totals: cost.page('/expenses/totals', {
    summary:
      'List the cost of each app per month and currency; by default for the last twelve months',
    who: 'expenses.read',
    query: { ...within },
    output: ExpenseTotal,
  }),
  list_licences: cost.page('/licences', {
    summary: 'List paid entitlements, with seats held and used',
    who: 'expenses.read',
    query: { app_id: text().describe('Only of this app') },
    output: Licence,
  }),
  put_licence_price: cost.put('/licences/:licence_id/price', {
    summary: 'Set the price of a seat of an entitlement',
    who: 'expenses.write',
    body: LicencePriceInput,
    output: Licence,
  }),
  delete_licence_price: cost.delete('/licences/:licence_id/price', {
    summary: 'Delete the price of a seat of an entitlement',
    who: 'expenses.write',
  }),
} as const
