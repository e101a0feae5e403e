/** REQUEST_CHANGES: changes of other people's access requests. */
import { RevokeAccessInput } from '../../contract/models/access-request.ts'
import { affected, revokeAccess } from '../../core/asking/revoke.ts'
import { getAccessRequest } from '../../core/requests/read.ts'
import { PAGE_WORDS } from '../../words/page-words.ts'
import { nameOf } from '../frame/words.ts'
import { type About, type ConsoleChange, minus, same, wordsFrom } from './change.ts'
import { filledIn } from './filled-in.ts'
import { brief } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

const idOf = ({ params }: About): string => params['access_request_id'] ?? ''

const requestPath = (about: About): string => `/access/requests/${encodeURIComponent(idOf(about))}`

const requestIn = ({ db, principal }: ConsoleVisit, about: About) =>
  getAccessRequest(db, principal, idOf(about), [])

async function namesIn(visit: ConsoleVisit, about: About) {
  const {
    requestable_permissions: permissions,
    app_name: app,
    target_user: who,
  } = await requestIn(visit, about)
  return { what: brief(permissions[0]?.label ?? visit.t.w.access, 80), app, who: nameOf(who) }
}

export const REQUEST_CHANGES = {
  revoked: {
    path: '/console/requests/:access_request_id/revoke',
    // App admins may do it too.
    ...{ place: 'requests', who: null, reason: 'needed', danger: true },
    does: 'revokes what an access request granted',
    ...wordsFrom((t) => t.console.revoke),
    done: PAGE_WORDS.done_revoked,
    back: requestPath,
    async crumbs(visit, about) {
      const { what, app } = await namesIn(visit, about)
      return [{ path: requestPath(about), words: visit.t.w.thing_in(what, app) }]
    },
    async preview(visit, about) {
      const w = visit.t.console.revoke
      const { db, principal } = visit
      const { what, app, who } = await namesIn(visit, about)
      const { granted, waiting } = await db.transaction((tx) =>
        affected(tx, principal, idOf(about)),
      )
      if (granted.length === 0) return { lines: [] }
      const others = granted.length - 1
      const isKept = granted.every(({ preExisting }) => preExisting === true)
      return {
        lines: [
          minus(w.takes(who, what, app)),
          others > 0 && minus(w.others(others)),
          waiting.length > 0 && minus(w.waiting(waiting.length)),
          granted.some(({ fulfilment }) => fulfilment === 'manual') && same(w.byHand),
          isKept && same(w.kept),
        ],
      }
    },
    act: ({ db, principal, context }, about) => {
      const { reason } = filledIn(RevokeAccessInput, { reason: about.get('reason') })
      return revokeAccess(db, principal, idOf(about), reason, context)
    },
  },
} as const satisfies Record<string, ConsoleChange>
