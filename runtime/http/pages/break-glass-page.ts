/** The form to take break-glass access. */
import { html } from 'hono/html'
import { type BreakGlass, MAX_GLASS_REASON } from '../../contract/models/break-glass.ts'
import { AREAS, layout, type Markup, proofField, type Visitor } from '../frame/layout.ts'
import type { Tongue } from '../frame/tongue.ts'
import { empty, note } from './parts.ts'

export type GlassValues = { id: string; minutes: string; reason: string }

type BreakGlassPage = {
  t: Tongue
  visitor: Visitor
  items: readonly BreakGlass[]
  values: GlassValues
  problem: Markup | string | null
}

export function breakGlassPage(page: BreakGlassPage): Markup {
  const { t, visitor, items, problem } = page
  const { w } = t
  return layout({
    t,
    title: problem === null ? w.break_glass : w.error_break_glass,
    visitor,
    area: 'access',
    content: html`<div class="page portal">
<div class="head"><div>
<ol class="crumbs"><li><a href="${AREAS.access.path}">${w.my_access}</a></li></ol>
<h1>${w.break_glass}</h1><p>${w.glass_lead}</p>
</div></div>
${items.length === 0 ? html`<div class="card">${empty('info', w.glass_none, w.glass_none_text)}</div>` : form(page)}
</div>`,
  })
}

function form({ t, visitor, items, values, problem }: BreakGlassPage): Markup {
  const { w } = t
  const isChosen = (id: string) => id === values.id || items.length === 1
  return html`<form class="card" method="post" action="/access/break-glass" novalidate>
<div class="in stack wide">
${proofField(visitor.proof)}
${problem === null ? '' : note('bad', 'alert', w.glass_not_given, problem, 'alert')}
<fieldset class="field"><legend>${w.what}</legend>
${items.map(
  ({ id, label, app_name, max_minutes }) =>
    html`<label class="choice"><input type="radio" name="id" value="${id}"${isChosen(id) ? html` checked` : ''}><span><strong class="wrap">${label}</strong><span class="sub wrap">${w.glass_of(app_name, t.wholeLength(max_minutes * 60))}</span></span></label>`,
)}</fieldset>
<div class="field"><label for="minutes">${w.glass_minutes}</label>
<p class="help" id="minutes-help">${w.glass_minutes_help}</p>
<input id="minutes" name="minutes" inputmode="numeric" maxlength="4" autocomplete="off" aria-describedby="minutes-help" value="${values.minutes}"></div>
<div class="field"><label for="reason">${w.glass_reason}</label>
<p class="help" id="reason-help">${w.glass_reason_help}</p>
<textarea id="reason" name="reason" rows="3" maxlength="${MAX_GLASS_REASON}" aria-describedby="reason-help" required>
${values.reason}</textarea></div>
<div class="row"><button class="btn danger">${w.glass_take}</button><a class="btn plain" href="${AREAS.access.path}">${w.cancel}</a></div>
</div>
</form>`
}
