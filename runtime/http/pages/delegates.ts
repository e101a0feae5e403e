/**
 * Delegates: a form that names one, the delegates of the visitor, and the people whose delegate the visitor
 * is.
 */
import { html } from 'hono/html'
import { queryOf } from '../../contract/endpoints/table.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import {
  type Delegation,
  MAX_DELEGATION_DAYS,
  MAX_DELEGATION_REASON,
} from '../../contract/models/delegation.ts'
import {
  createDelegation,
  endDelegation,
  listDelegations,
} from '../../core/delegation/delegations.ts'
import { keptText } from '../../core/kernel/kept-text.ts'
import { refusalOf } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import { type Markup, proofField } from '../frame/layout.ts'
import { nameOf, parseMoment } from '../frame/words.ts'
import { searchText } from './access.ts'
import { personNamed } from './named.ts'
import { note, whole } from './parts.ts'
import { answerPortal } from './portal.ts'
import { badge } from './states.ts'
import type { Visit } from './visit.ts'

/** Maximum number of rows of each list. */
const SIZE = 50

/** Input of the form, and why it was refused. */
type DelegateForm = {
  person: string
  since: string
  until: string
  reason: string
  problem: Markup | string | null
  /** The invalid field, if there is one. */
  wrong?: 'person' | 'until'
}

const NOTHING: DelegateForm = { person: '', since: '', until: '', reason: '', problem: null }

export async function showDelegates(
  visit: Visit,
  form: DelegateForm = NOTHING,
  status: 200 | 409 | 422 = 200,
): Promise<Response> {
  const { db, principal, t } = visit
  const { userId, readOnly } = principal
  const { w } = t
  const of = queryOf('list_delegations', { size: SIZE })
  const yours = await listDelegations(db, principal, { ...of, user_id: userId })
  const others = await listDelegations(db, principal, { ...of, delegate_id: userId })
  return answerPortal(visit, {
    ...{ title: w.delegates_title, lead: w.delegates_lead, status },
    content: html`${form.problem === null ? '' : note('bad', 'alert', w.delegate_not_named, html`<span id="not-named">${form.problem}</span>`, 'alert')}
${readOnly ? note('', 'info', w.delegates_read_only) : naming(visit, form)}
${list(visit, 'yours', w.delegates_yours, w.delegates_yours_none, yours, ({ delegate }) => delegate)}
${list(visit, 'others', w.delegates_of, w.delegates_of_none, others, ({ user }) => user)}`,
  })
}

function naming({ t, proof, now }: Visit, form: DelegateForm): Markup {
  const { w } = t
  const said = (name: DelegateForm['wrong']) => (form.wrong === name ? 'not-named ' : '')
  const today = now.toISOString().slice(0, 10)
  return html`<section class="card" aria-labelledby="h-new"><header><h2 id="h-new">${w.delegate_new}</h2></header>
<form class="in stack" method="post" action="/settings/delegates">
${proofField(proof)}
<div class="field"><label for="person">${w.delegate_person}</label><p class="help" id="person-help">${w.delegate_person_help}</p>
<input id="person" name="person" value="${form.person}" maxlength="320" required autocomplete="off" aria-invalid="${form.wrong === 'person' ? 'true' : 'false'}" aria-describedby="${said('person')}person-help"></div>
<div class="field"><label for="since">${w.delegate_since} <span class="soft">${w.optional}</span></label><p class="help" id="since-help">${w.delegate_since_help}</p>
<input id="since" name="since" type="date" value="${form.since}" min="${today}" aria-describedby="since-help"></div>
<div class="field"><label for="until">${w.delegate_until}</label><p class="help" id="until-help">${w.delegate_until_help(MAX_DELEGATION_DAYS)}</p>
<input id="until" name="until" type="date" value="${form.until}" min="${today}" required aria-invalid="${form.wrong === 'until' ? 'true' : 'false'}" aria-describedby="${said('until')}until-help"></div>
<div class="field"><label for="reason">${w.reason} <span class="soft">${w.optional}</span></label><p class="help" id="reason-help">${w.delegate_reason_help}</p>
<input id="reason" name="reason" value="${form.reason}" maxlength="${MAX_DELEGATION_REASON}" autocomplete="off" aria-describedby="reason-help"></div>
<div><button class="btn main">${w.delegate_name}</button></div>
</form></section>`
}

type PersonOf = (one: Delegation) => Delegation['user']

function list(
  visit: Visit,
  id: string,
  title: string,
  none: string,
  { items, total }: { items: readonly Delegation[]; total: number },
  personOf: PersonOf,
): Markup {
  const { w } = visit.t
  const head = html`<header><h2 id="${id}">${title}</h2><span class="count">${total}</span></header>`
  if (items.length === 0)
    return html`<section class="card" aria-labelledby="${id}">${head}<p class="in soft">${none}</p></section>`
  return html`<section class="card" aria-labelledby="${id}">${head}
<div class="scroll" role="region" aria-labelledby="${id}" tabindex="0"><table>
<thead><tr>${w.delegate_columns.map((words, at) => html`<th scope="col" class="${LOOKS[at] ?? ''}">${words}</th>`)}</tr></thead>
<tbody>${items.map((one) => row(visit, one, personOf))}</tbody>
</table></div>
${total > items.length ? html`<footer>${w.delegates_not_shown(total - items.length)}</footer>` : ''}</section>`
}

/** Column styles, from the first. */
const LOOKS = ['', 'c3', 'c2', '']

function row({ t, proof, now, principal }: Visit, one: Delegation, personOf: PersonOf) {
  const { w } = t
  const person = personOf(one)
  const name = person ? nameOf(person) : w.someone
  const until = parseMoment(one.until)
  const isOver = one.ended_at !== null || until <= now
  const state = isOver
    ? badge(['', 'minus'], w.delegate_ended)
    : one.active
      ? badge(['good', 'check'], w.delegate_now)
      : badge(['wait', 'clock'], w.delegate_later)
  return html`<tr class="${isOver ? 'soft' : ''}">
<th scope="row" class="wrap">${whole(name)}${person && person.email !== name ? html`<span class="sub wrap">${whole(person.email)}</span>` : ''}${one.reason === '' ? '' : html`<span class="sub wrap">${w.quoted(one.reason)}</span>`}</th>
<td class="c3">${t.moment(parseMoment(one.since), now)}</td>
<td class="c2">${t.moment(until, now)}</td>
<td>${state}${
    isOver || principal.readOnly
      ? ''
      : html` <form method="post" action="/settings/delegates/${one.id}/end">${proofField(proof)}<button class="btn less">${w.delegate_end}<span class="unseen">: ${name}</span></button></form>`
  }</td>
</tr>`
}

/** Returns the field of the form that the core refused. */
function fieldOf(error: unknown): DelegateForm['wrong'] {
  const { detail } = error instanceof CoreError ? error : { detail: '' }
  const names = typeof detail === 'string' ? [] : detail.flatMap(({ loc }) => loc)
  return names.includes('delegate_id') ? 'person' : names.includes('until') ? 'until' : undefined
}

export async function nameDelegate(visit: Visit, form: Form): Promise<Response> {
  const { db, principal, context, t, now } = visit
  const given = {
    person: searchText(form.get('person')),
    since: form.get('since') ?? '',
    until: form.get('until') ?? '',
    reason: keptText(form.get('reason')?.trim() ?? '', MAX_DELEGATION_REASON),
  }
  const again = (problem: Markup | string, status: 409 | 422, wrong: DelegateForm['wrong']) =>
    showDelegates(visit, { ...given, problem, ...(wrong ? { wrong } : {}) }, status)
  const delegate = await personNamed(db, principal, given.person)
  if (!delegate) return again(t.w.nobody_known, 422, 'person')
  if (given.until === '') return again(t.w.delegate_days, 422, 'until')
  // A day that has already begun means now.
  const isToCome = given.since > now.toISOString().slice(0, 10)
  try {
    const body = {
      ...{ delegate_id: delegate.id, user_id: undefined, reason: given.reason },
      since: isToCome ? `${given.since}T00:00:00Z` : undefined,
      until: `${given.until}T23:59:59.999Z`,
    }
    await createDelegation(db, principal, body, context)
  } catch (error) {
    const { problem, status } = refusalOf(t, error, 'conflict', 'invalid')
    return again(problem, status, fieldOf(error))
  }
  return visit.done('delegated', '/settings/delegates')
}

export async function withdrawDelegate(visit: Visit): Promise<Response> {
  const { c, db, principal, context } = visit
  await endDelegation(db, principal, c.req.param('id') ?? '', context)
  return visit.done('undelegated', '/settings/delegates')
}
