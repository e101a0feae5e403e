/** What apps cost. Ours. */
import { ExpenseTotal, Licence, LicencePriceInput, RecordedExpense } from '../models/cost.ts'
import { endpoint } from './endpoint.ts'
import { datetime, pageParams, text } from './params.ts'

const cost = endpoint('Cost')

const within = {
  app_id: text().describe('Only of this app'),
  since: datetime().describe('Only from this moment on'),
  until: datetime().describe('Only before this moment'),
}

export const COST_ENDPOINTS = {
  list_recorded_expenses: cost.get('/expenses', {
    summary: 'List expenses that apps told, newest first',
    who: 'expenses.read',
    query: { ...within, ...pageParams },
    answer: 'page',
    output: RecordedExpense,
  }),
  list_expense_totals: cost.get('/expenses/totals', {
    summary:
      'List what each app cost in each month, by currency; the last twelve months unless since says otherwise',
    who: 'expenses.read',
    query: { ...within, ...pageParams },
    answer: 'page',
    output: ExpenseTotal,
  }),
  list_licences: cost.get('/licences', {
    summary: 'List entitlements that are paid for, with seats held and used',
    who: 'expenses.read',
    query: { app_id: text().describe('Only of this app'), ...pageParams },
    answer: 'page',
    output: Licence,
  }),
  put_licence_price: cost.put('/licences/:licence_id/price', {
    summary: 'Say what a seat of an entitlement costs',
    who: 'expenses.write',
    body: LicencePriceInput,
    output: Licence,
  }),
  delete_licence_price: cost.delete('/licences/:licence_id/price', {
    summary: 'Forget what a seat of an entitlement costs',
    who: 'expenses.write',
  }),
} as const
