/** How expenses and their amounts are stored. */
import { expect, test } from 'vitest'
import { expensesSince, moneyOf, rowOf } from '../../../runtime/core/sync/expenses.ts'

const expense = (more: object = {}) => ({
  ...{ id: 'x1', transaction_date: '2026-03-01T10:00:00+02:00', description: 'Seats' },
  ...{ total_amount: { amount: 12.5, currency: 'EUR' }, seller: { name: 'Acme' } },
  ...{ submitter: { email: 'ada@example.com', name: 'Ada' }, type: 'card_transaction' as const },
  ...{ approval_status: {}, payment_status: {}, ...more },
})

test('an expense is stored with its id, time, amount and people', () => {
  expect(rowOf(expense())).toEqual({
    ...{ external: 'x1', at: '2026-03-01T08:00:00.000Z', amount: '12.5', currency: 'EUR' },
    ...{ seller: 'Acme', description: 'Seats', submitter: 'ada@example.com' },
    type: 'card_transaction',
  })
})

test.each([
  { id: '' },
  { id: 'a\u0000b' },
  { id: 'x'.repeat(5000) },
  { transaction_date: 'soon' },
  { transaction_date: '0001-01-01' },
])('an expense that cannot be stored unchanged, such as %j, is skipped', (more) => {
  expect(rowOf(expense(more))).toBeNull()
})

test.each([
  [{ amount: '12.50', currency: 'eur' }, '12.50', 'EUR'],
  [{ value: -3, currency_code: 'USD' }, '-3', 'USD'],
  [{ amount: 0.1 + 0.2, currency: 'USD' }, '0.3', 'USD'],
  [{ amount: 1e-9, currency: 'USD' }, '0', 'USD'],
  [{ amount: 1e21, currency: 'USD' }, null, null],
  [{ amount: Number.NaN, currency: 'USD' }, null, null],
  [{ amount: '1,50', currency: 'EUR' }, null, null],
  [{ amount: '12.50' }, null, null],
  [{ amount: 5, currency: 'Euro' }, null, null],
  [{}, null, null],
  [null, null, null],
])('the amount of %j is %s %s', (value, amount, currency) => {
  expect(moneyOf(value)).toEqual({ amount, currency })
})

test('a run requests all of its pages since the same day', () => {
  const since = expensesSince({ createdAt: new Date('2026-11-23T15:00:00Z') })
  expect(since.toISOString()).toBe('2025-10-19T00:00:00.000Z')
})
