/** Who decides in whose place: a form for another, and both lists. */
import { html } from 'hono/html'
import { type Delegation, MAX_DELEGATION_DAYS } from '../../contract/models/delegation.ts'
import { AREAS, layout, type Markup, proofField, type Visitor } from '../frame/layout.ts'
import type { Tongue } from '../frame/tongue.ts'
import { nameOf, parseMoment } from '../frame/words.ts'
import { note } from './parts.ts'
import { badge } from './states.ts'

/** What was typed, and why it was not taken. */
export type DelegateForm = {
  person: string
  since: string
  until: string
  reason: string
  problem: string | null
}

type List = { items: readonly Delegation[]; total: number }

type DelegatesPage = {
  t: Tongue
  visitor: Visitor
  flash: Markup | null
  /** Whether the session may only look. */
  readOnly: boolean
  yours: List
  others: List
  form: DelegateForm
  now: Date
}

const MAX_REASON = 500

export function delegatesPage(page: DelegatesPage): Markup {
  const { t, visitor, flash, readOnly, yours, others, form } = page
  const { w } = t
  return layout({
    t,
    title: w.delegates_title,
    visitor,
    content: html`<div class="page portal">
<div class="head"><div>
<ol class="crumbs"><li><a href="${AREAS.access.path}">${w.my_access}</a></li></ol>
<h1>${w.delegates_title}</h1><p>${w.delegates_lead}</p>
</div></div>
${flash ?? ''}
${form.problem === null ? '' : note('bad', 'alert', w.delegate_not_named, form.problem, 'alert')}
${readOnly ? note('', 'info', w.delegates_read_only) : naming(page)}
${list(page, 'yours', w.delegates_yours, w.delegates_yours_none, yours, ({ delegate }) => delegate)}
${list(page, 'others', w.delegates_of, w.delegates_of_none, others, ({ user }) => user)}
</div>`,
  })
}

function naming({ t, visitor, form, now }: DelegatesPage): Markup {
  const { w } = t
  const today = now.toISOString().slice(0, 10)
  return html`<section class="card" aria-labelledby="h-new"><header><h2 id="h-new">${w.delegate_new}</h2></header>
<form class="in stack" method="post" action="/settings/delegates">
${proofField(visitor.proof)}
<div class="field"><label for="person">${w.delegate_person}</label><p class="help" id="person-help">${w.delegate_person_help}</p>
<input id="person" name="person" value="${form.person}" maxlength="320" required autocomplete="off" aria-describedby="person-help"></div>
<div class="field"><label for="since">${w.delegate_since} <span class="soft">${w.optional}</span></label><p class="help" id="since-help">${w.delegate_since_help}</p>
<input id="since" name="since" type="date" value="${form.since}" min="${today}" aria-describedby="since-help"></div>
<div class="field"><label for="until">${w.delegate_until}</label><p class="help" id="until-help">${w.delegate_until_help(MAX_DELEGATION_DAYS)}</p>
<input id="until" name="until" type="date" value="${form.until}" min="${today}" required aria-describedby="until-help"></div>
<div class="field"><label for="reason">${w.reason} <span class="soft">${w.optional}</span></label><p class="help" id="reason-help">${w.delegate_reason_help}</p>
<input id="reason" name="reason" value="${form.reason}" maxlength="${MAX_REASON}" autocomplete="off" aria-describedby="reason-help"></div>
<div><button class="btn main">${w.delegate_name}</button></div>
</form></section>`
}

type PersonOf = (one: Delegation) => Delegation['user']

function list(
  page: DelegatesPage,
  id: string,
  title: string,
  none: string,
  { items, total }: List,
  personOf: PersonOf,
): Markup {
  const { w } = page.t
  const head = html`<header><h2 id="${id}">${title}</h2><span class="count">${total}</span></header>`
  if (items.length === 0)
    return html`<section class="card" aria-labelledby="${id}">${head}<p class="in soft">${none}</p></section>`
  return html`<section class="card" aria-labelledby="${id}">${head}
<div class="scroll" role="region" aria-labelledby="${id}" tabindex="0"><table>
<thead><tr>${w.delegate_columns.map((words, at) => html`<th scope="col" class="${LOOKS[at] ?? ''}">${words}</th>`)}</tr></thead>
<tbody>${items.map((one) => row(page, one, personOf))}</tbody>
</table></div>
${total > items.length ? html`<footer>${w.delegates_not_shown(total - items.length)}</footer>` : ''}</section>`
}

/** How the columns look, from the first. */
const LOOKS = ['', 'c3', 'c2', '']

function row({ t, visitor, now, readOnly }: DelegatesPage, one: Delegation, personOf: PersonOf) {
  const { w } = t
  const person = personOf(one)
  const name = person ? nameOf(person) : w.someone
  const until = parseMoment(one.until)
  const isOver = one.ended_at !== null || until <= now
  const state = isOver
    ? badge('', 'minus', w.delegate_ended)
    : one.active
      ? badge('good', 'check', w.delegate_now)
      : badge('wait', 'clock', w.delegate_later)
  return html`<tr class="${isOver ? 'soft' : ''}">
<th scope="row" class="wrap">${name}${person && person.email !== name ? html`<span class="sub wrap">${person.email}</span>` : ''}${one.reason === '' ? '' : html`<span class="sub wrap">${w.quoted(one.reason)}</span>`}</th>
<td class="c3">${t.moment(parseMoment(one.since), now)}</td>
<td class="c2">${t.moment(until, now)}</td>
<td>${state}${
    isOver || readOnly
      ? ''
      : html` <form method="post" action="/settings/delegates/${one.id}/end">${proofField(visitor.proof)}<button class="btn less">${w.delegate_end}<span class="unseen">: ${name}</span></button></form>`
  }</td>
</tr>`
}
