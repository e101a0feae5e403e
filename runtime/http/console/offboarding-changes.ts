/** OFFBOARDING_CHANGES: start an offboarding, and cancel it before it begins. */
import { html } from 'hono/html'
import { UserOffboardingInput } from '../../contract/models/user-offboarding.ts'
import { getUser } from '../../core/directory/users.ts'
import {
  cancelOffboarding,
  createOffboarding,
  getOffboarding,
} from '../../core/offboarding/offboardings.ts'
import { offboardingPreview } from '../../core/offboarding/progress.ts'
import { fieldError, PageError } from '../frame/error-page.ts'
import type { PageLocale } from '../frame/locale.ts'
import { nameOf } from '../frame/words.ts'
import { type About, type ConsoleChange, minus, same, wordsFrom } from './change.ts'
import { filledIn } from './filled-in.ts'
import { choose } from './parts.ts'
import { personPath } from './person-link.ts'

const idOf = ({ params }: About): string => params['user_id'] ?? ''

const base = {
  place: 'people',
  who: 'offboardings.write',
  reason: 'none',
  danger: true,
  back: (about: About) => personPath(idOf(about)),
} as const

/** Returns the chosen moment; null for now. @throws CoreError `invalid` */
function momentIn(about: About, { console: { offboarding } }: PageLocale): string | null {
  if (about.get('when') !== 'later') return null
  const day = about.get('day')
  const at = new Date(`${day}T00:00:00Z`)
  if (!at.toJSON()?.startsWith(day) || day === '') throw fieldError('day', offboarding.dayMissing)
  return at.toISOString()
}

export const OFFBOARDING_CHANGES = {
  offboard: {
    ...base,
    path: '/console/people/:user_id/offboard',
    does: 'offboards a person',
    ...wordsFrom((t) => t.console.offboarding),
    fields: (about, t) => {
      const w = t.console.offboarding
      const all = [
        ['now', w.whenNow],
        ['later', w.whenLater],
      ] as const
      return html`${choose({ id: 'when', label: w.when, value: about.get('when'), all })}
<div class="field"><label for="day">${w.day} <span class="soft">${t.w.optional}</span></label><p class="help" id="day-help">${w.dayHelp}</p><input id="day" name="day" type="date" value="${about.get('day')}" aria-describedby="day-help"></div>`
    },
    async preview({ db, principal, t }, about) {
      const w = t.console.offboarding
      const user = await getUser(db, principal, idOf(about), [])
      const { accounts, requests } = await offboardingPreview(db, principal, idOf(about))
      if (about.get('when') === '') return { lines: null }
      const at = momentIn(about, t)
      return {
        lines: [
          at !== null && same(w.begins(at.slice(0, 10))),
          minus(w.signedOut(nameOf(user))),
          (accounts === 0 ? same : minus)(w.takes(accounts)),
          requests !== 0 && minus(w.ends(requests)),
          same(w.stays),
        ],
      }
    },
    async act({ db, principal, context, t }, about) {
      const at = momentIn(about, t)
      const body = { user_id: idOf(about), ...(at === null ? {} : { scheduled_at: at }) }
      await createOffboarding(db, principal, filledIn(UserOffboardingInput, body), context)
    },
  },
  'offboarding-cancelled': {
    ...base,
    path: '/console/people/:user_id/offboarding/:user_offboarding_id/cancel',
    does: 'cancels an offboarding',
    title: (_, t) => t.console.offboarding.cancelTitle,
    button: (t) => t.console.offboarding.cancelButton,
    done: (t) => t.console.offboarding.cancelled,
    async preview({ db, principal, t }, { params }) {
      const w = t.console.offboarding
      const { status } = await getOffboarding(db, principal, params['user_offboarding_id'] ?? '')
      if (status !== 'SCHEDULED') throw new PageError('conflict', w.cancelTooLate)
      return { lines: [same(w.cancelLine)] }
    },
    act: ({ db, principal, context }, { params }) =>
      cancelOffboarding(db, principal, params['user_offboarding_id'] ?? '', context),
  },
} as const satisfies Record<string, ConsoleChange>
