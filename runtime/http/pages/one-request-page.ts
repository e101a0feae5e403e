/** One access request: all that happened to it, and what can be done about it. */
import { html } from 'hono/html'
import type { AccessRequest } from '../../contract/models/access-request.ts'
import { AREAS, layout, type Markup, type Visitor } from '../frame/layout.ts'
import { accessLength } from '../frame/words.ts'
import { canWithdraw, withdrawQuestion } from './access-page.ts'
import { ask } from './parts.ts'
import { requestBadge } from './states.ts'
import { stepsOf, timeline } from './timeline.ts'

export type OneRequestPage = {
  visitor: Visitor
  userId: string
  flash: Markup | null
  request: AccessRequest
  now: Date
}

export function oneRequestPage(page: OneRequestPage): Markup {
  const { visitor, userId, request, now } = page
  const what = request.requestable_permissions[0]?.label ?? 'Access'
  const title = `${what} in ${request.app_name}`
  const isMine = request.target_user.id === userId
  const canGiveBack = isMine && request.status === 'COMPLETED'
  return layout({
    title,
    visitor,
    area: 'access',
    content: html`<div class="page portal">
<div class="head"><div>
<ol class="crumbs"><li><a href="${AREAS.access.path}">My access</a></li><li>Request</li></ol>
<div class="row"><h1 class="wrap">${title}</h1>${requestBadge(request.status)}</div>
<p>Asked ${accessLength(request.expiration_in_seconds)}.</p>
</div>
${canWithdraw(request) && html`<a class="btn danger" href="#withdraw-${request.id}" data-dialog>Withdraw</a>`}
${canGiveBack && html`<a class="btn danger" href="#give-back-${request.id}" data-dialog>Give back</a>`}
</div>
${page.flash ?? ''}
<section class="card" aria-labelledby="h-way"><header><h2 id="h-way">What happens</h2></header>
<div class="in">${timeline(stepsOf(request, { userId, now }))}</div></section>
${canWithdraw(request) && withdrawQuestion(request, visitor.proof)}
${
  canGiveBack &&
  ask({
    id: `give-back-${request.id}`,
    title: `Give back “${what}” of ${request.app_name}?`,
    text: 'Keyway removes it. To get it again you have to ask again.',
    action: `/access/requests/${request.id}/give-back`,
    proof: visitor.proof,
    button: 'Give back',
    keep: 'Keep it',
  })
}
</div>`,
  })
}
