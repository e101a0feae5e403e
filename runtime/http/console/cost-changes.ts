/** COST_CHANGES: changes of the price of a licence's seat. */
import { html } from 'hono/html'
import { LicencePriceInput, PERIODS } from '../../contract/models/cost.ts'
import { deletePrice, getLicence, putPrice } from '../../core/cost/licences.ts'
import { SIDE } from '../frame/side.ts'
import { type About, type ConsoleChange, minus, plus, wordsFrom } from './change.ts'
import { priceWords } from './cost.ts'
import { filledIn } from './filled-in.ts'
import { brief, choose, field } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

const idOf = ({ params }: About): string => params['licence_id'] ?? ''
const licenceOf = ({ db, principal }: ConsoleVisit, about: About) =>
  getLicence(db, principal, idOf(about))

const priceIn = (about: About) =>
  filledIn(LicencePriceInput, {
    amount: about.get('amount'),
    currency: about.get('currency').toUpperCase(),
    period: about.get('period'),
  })

const base = {
  place: 'cost',
  who: 'expenses.write',
  reason: 'none',
  back: () => SIDE.cost.path,
} as const

export const COST_CHANGES = {
  'licence-price': {
    ...base,
    path: '/console/licences/:licence_id/price',
    does: 'sets the price of a seat',
    ...wordsFrom((t) => t.console.cost_change.set),
    fields: (about, t) =>
      html`${field({ t, id: 'amount', label: t.console.cost_change.set.amount, value: about.get('amount'), most: 20, required: true })}
${field({ t, id: 'currency', label: t.console.cost_change.set.currency, value: about.get('currency'), most: 3, required: true })}
${choose({ id: 'period', label: t.console.cost_change.set.period, value: about.get('period'), all: PERIODS.map((one) => [one, t.console.cost.each[one]] as const) })}`,
    async given(visit, about) {
      const { price } = await licenceOf(visit, about)
      return price ? { ...price } : {}
    },
    async preview(visit, about) {
      const { t } = visit
      const { label, price } = await licenceOf(visit, about)
      if (about.get('amount') === '' || about.get('currency') === '') return { lines: null }
      const after = priceWords(t, priceIn(about))
      const isSame = price ? priceWords(t, price) === after : false
      return { lines: [!isSame && plus(t.console.cost_change.set.line(brief(label, 80), after))] }
    },
    act: ({ db, principal }, about) => putPrice(db, principal, idOf(about), priceIn(about)),
  },
  'licence-no-price': {
    ...base,
    path: '/console/licences/:licence_id/no-price',
    does: 'removes the price of a seat',
    ...wordsFrom((t) => t.console.cost_change.forget),
    danger: true,
    async preview(visit, about) {
      const { t } = visit
      const { label, price } = await licenceOf(visit, about)
      return {
        lines: price
          ? [minus(t.console.cost_change.forget.line(brief(label, 80), priceWords(t, price)))]
          : [],
      }
    },
    act: ({ db, principal }, about) => deletePrice(db, principal, idOf(about)),
  },
} as const satisfies Record<string, ConsoleChange>
