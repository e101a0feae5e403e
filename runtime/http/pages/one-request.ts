/** One access request: its history, and the possible actions. */
import { html } from 'hono/html'
import { askedByPolicy } from '../../core/asking/asked-by-policy.ts'
import { decidersToCome } from '../../core/asking/next-deciders.ts'
import { revocationOf } from '../../core/asking/revoke.ts'
import { getAccessRequest } from '../../core/requests/read.ts'
import { remindableOf } from '../../core/task-actions/remind.ts'
import { AREAS, layout, type Markup, type Visitor } from '../frame/layout.ts'
import { SIDE } from '../frame/side.ts'
import { nameOf } from '../frame/words.ts'
import { canWithdraw, remindForm, withdrawQuestion } from './access-page.ts'
import { ask, note } from './parts.ts'
import { requestBadge } from './states.ts'
import { stepsOf, timeline } from './timeline.ts'
import type { Visit } from './visit.ts'

export async function showOneRequest(visit: Visit): Promise<Response> {
  const { c, db, principal, now, t, proof } = visit
  const request = await getAccessRequest(db, principal, c.req.param('id') ?? '', ['tasks'])
  const { userId } = principal
  // Whether the approvers may be reminded now, and whether the visitor may revoke the grant.
  const mayRemind = (await remindableOf(db, principal, [request.id])).has(request.id)
  const revocation = await revocationOf(db, principal, request)
  const toCome = (await decidersToCome(db, principal, [request.id])).get(request.id)
  const policies = await askedByPolicy(db, principal, [request.id])
  const visitor = await visit.visitor()
  const { w } = t
  const what = request.requestable_permissions[0]?.label ?? w.access
  const title = w.thing_in(what, request.app_name)
  const isMine = request.target_user.id === userId
  // A visitor of another person's request comes from the list of all requests.
  const isOwn = isMine || request.requester_user.id === userId
  const above =
    isOwn || !visitor.places.includes('requests')
      ? { at: AREAS.access.path, words: w.my_access }
      : { at: SIDE.requests.path, words: w[SIDE.requests.words] }
  const canGiveBack = isMine && request.status === 'COMPLETED'
  const page = layout({
    ...{ t, title, visitor },
    ...(isOwn && { area: 'access' }),
    content: html`<div class="page portal">
<div class="head"><div>
<ol class="crumbs"><li><a href="${above.at}">${above.words}</a></li><li>${w.request}</li></ol>
<div class="row"><h1 class="wrap">${title}</h1>${requestBadge(t, request)}</div>
<p class="wrap">${isMine ? '' : html`${w.for_whom(nameOf(request.target_user))} `}${(request.is_break_glass ? w.glass_taken_for : w.asked_for)(t.accessLength(request.expiration_in_seconds))}</p>
</div>
${canWithdraw(request) && html`<a class="btn danger" href="#withdraw-${request.id}" data-dialog>${w.withdraw}</a>`}
${canGiveBack && html`<a class="btn danger" href="#give-back-${request.id}" data-dialog>${w.give_back}</a>`}
${revocation?.policy === null && !canGiveBack && html`<a class="btn danger" href="/console/requests/${request.id}/revoke">${w.revoke_access}</a>`}
</div>
${visit.flash() ?? ''}
${revocation?.policy && note('', 'rule', w.given_by_policy(revocation.policy.name), byPolicy(visit, visitor, revocation.policy))}
<section class="card" aria-labelledby="h-way"><header><h2 id="h-way">${w.what_happens}</h2></header>
<div class="in">${timeline(stepsOf(request, { t, userId, now, toCome, byPolicy: policies }))}
${mayRemind && remindForm(t, request, proof)}</div></section>
${canWithdraw(request) && withdrawQuestion(t, request, proof)}
${
  canGiveBack &&
  ask({
    id: `give-back-${request.id}`,
    title: w.give_back_question(what, request.app_name),
    text: w.give_back_text,
    action: `/access/requests/${request.id}/give-back`,
    proof,
    button: w.give_back,
    keep: w.keep_it,
  })
}
</div>`,
  })
  return c.html(page)
}

/** Explains how access of a policy is revoked, with a link for visitors who may read policies. */
const byPolicy = (
  { t: { w } }: Visit,
  { places }: Visitor,
  { id, name }: { id: string; name: string },
): Markup =>
  html`${w.revoke_by_policy}${places.includes('policies') && html` <a href="/console/policies/${id}">${name}</a>`}`
