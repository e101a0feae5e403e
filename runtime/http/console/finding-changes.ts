/** FINDING_CHANGES: accept a finding for some time, and reopen it. */
import { html } from 'hono/html'
import { AcceptFindingInput } from '../../contract/models/finding.ts'
import { accountNames } from '../../core/catalogue/apps/accounts.ts'
import { acceptedEnd, acceptFinding, getFinding, reopenFinding } from '../../core/findings/read.ts'
import { appPath } from './apps.ts'
import { type About, type ConsoleChange, plus, same, wordsFrom } from './change.ts'
import { filledIn } from './filled-in.ts'
import { accountCalled } from './findings.ts'
import { brief, field } from './parts.ts'
import { personPath } from './person-link.ts'
import type { ConsoleVisit } from './visit.ts'

const idOf = ({ params }: About): string => params['finding_id'] ?? ''

/** Returns the page that led here. */
function backTo({ get }: About): string {
  if (get('user_id') !== '') return personPath(get('user_id'))
  return get('app_id') === '' ? '/console/apps' : appPath(get('app_id'))
}

const kindIn = async ({ db, principal, t }: ConsoleVisit, about: About): Promise<string> =>
  t.w.finding_kinds[(await getFinding(db, principal, idOf(about))).kind]

/** Returns the breadcrumbs, which name the app and the account. */
async function crumbsOf({ db, principal, t }: ConsoleVisit, about: About) {
  const found = await getFinding(db, principal, idOf(about))
  const account = accountCalled(await accountNames(db, [found]), found)
  const of = [found.app_name, account].filter(Boolean).join(', ')
  return [{ path: backTo(about), words: brief([of, t.w.finding_kinds[found.kind]].join(': ')) }]
}

/** Returns the end of a day chosen in a form. */
const endOf = (day: string): string => `${day}T23:59:59Z`

export const FINDING_CHANGES = {
  'accept-finding': {
    path: '/console/findings/:finding_id/accept',
    ...{
      place: 'apps',
      who: 'findings.write',
      reason: 'needed',
      does: 'accepts a finding for a time',
    },
    ...wordsFrom((t) => t.console.findings.accept),
    back: backTo,
    crumbs: crumbsOf,
    fields: (about, t) => {
      const w = t.console.findings.accept
      return html`${field({ t, id: 'until', label: w.until, help: w.untilHelp, value: about.get('until'), type: 'date', required: true })}`
    },
    async preview(visit, about) {
      const kind = await kindIn(visit, about)
      const day = about.get('until')
      if (day === '') return { lines: null }
      acceptedEnd(endOf(day), visit.now)
      return { lines: [same(visit.t.console.findings.accept.line(kind, day))] }
    },
    act: ({ db, principal, context }, about) =>
      acceptFinding(
        db,
        principal,
        idOf(about),
        filledIn(AcceptFindingInput, {
          reason: about.get('reason'),
          until: endOf(about.get('until')),
        }),
        context,
      ),
  },
  'reopen-finding': {
    path: '/console/findings/:finding_id/reopen',
    ...{
      place: 'apps',
      who: 'findings.write',
      reason: 'none',
      does: 'reopens an accepted finding',
    },
    ...wordsFrom((t) => t.console.findings.reopen),
    back: backTo,
    crumbs: crumbsOf,
    async preview(visit, about) {
      const words = visit.t.console.findings.reopen.line(await kindIn(visit, about))
      return { lines: [plus(words)] }
    },
    act: ({ db, principal }, about) => reopenFinding(db, principal, idOf(about)),
  },
} as const satisfies Record<string, ConsoleChange>
