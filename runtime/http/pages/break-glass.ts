/** The page for break-glass access. */
import { html } from 'hono/html'
import { queryOf } from '../../contract/endpoints/table.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import {
  type BreakGlass,
  MAX_GLASS_MINUTES,
  MAX_GLASS_REASON,
} from '../../contract/models/break-glass.ts'
import { listBreakGlass } from '../../core/catalogue/store/break-glass.ts'
import { keptText } from '../../core/kernel/kept-text.ts'
import { takeBreakGlass } from '../../core/requests/break-glass.ts'
import { refusalOf } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import { AREAS, type Markup, proofField } from '../frame/layout.ts'
import { empty, note } from './parts.ts'
import { answerPortal } from './portal.ts'
import type { Visit } from './visit.ts'

type GlassValues = { id: string; minutes: string; reason: string }

/** Why access was not given, and the field to correct, if any. */
type GlassProblem = { said: Markup | string; field: keyof GlassValues | null }

/** The id of the error message. */
const WORDS_ID = 'not-given'
/** Maximum number of permissions that are shown. */
const MAX_PERMISSIONS = 100

export const showBreakGlass = (visit: Visit): Promise<Response> =>
  show(visit, { id: visit.c.req.query('id') ?? '', minutes: '', reason: '' }, null, 200)

async function show(
  visit: Visit,
  values: GlassValues,
  problem: GlassProblem | null,
  status: 200 | 403 | 409 | 422,
): Promise<Response> {
  const { db, principal, t } = visit
  const { w } = t
  const query = queryOf('list_break_glass', { mine: true, size: MAX_PERMISSIONS })
  const { items } = await listBreakGlass(db, principal, query)
  return answerPortal(visit, {
    title: problem === null ? w.break_glass : w.error_break_glass,
    ...{ heading: w.break_glass, lead: w.glass_lead, area: 'access', status },
    content:
      items.length === 0
        ? html`<div class="card">${empty('info', w.glass_none, w.glass_none_text)}</div>`
        : asking(visit, items, values, problem),
  })
}

function asking(
  { t, proof }: Visit,
  items: readonly BreakGlass[],
  values: GlassValues,
  problem: GlassProblem | null,
): Markup {
  const { w } = t
  const isWrong = (field: keyof GlassValues) => problem?.field === field
  const invalid = (field: keyof GlassValues) => (isWrong(field) ? 'true' : 'false')
  const said = (field: keyof GlassValues) => (isWrong(field) ? `${WORDS_ID} ` : '')
  const isChosen = (id: string) => id === values.id || items.length === 1
  return html`<form class="card" method="post" action="/access/break-glass" novalidate>
<div class="in stack wide">
${proofField(proof)}
${problem === null ? '' : note('bad', 'alert', w.glass_not_given, saidOf(problem), 'alert')}
<fieldset class="field" role="radiogroup" aria-invalid="${invalid('id')}"${isWrong('id') ? html` aria-describedby="${WORDS_ID}"` : ''}><legend>${w.what}</legend>
${items.map(
  ({ id, label, app_name, max_minutes }, at) =>
    html`<label class="choice"><input type="radio"${at === 0 ? html` id="id"` : ''} name="id" value="${id}"${isChosen(id) ? html` checked` : ''}><span><strong class="wrap">${label}</strong><span class="sub wrap">${w.glass_of(app_name, t.wholeLength(max_minutes * 60))}</span></span></label>`,
)}</fieldset>
<div class="field"><label for="minutes">${w.glass_minutes}</label>
<p class="help" id="minutes-help">${w.glass_minutes_help}</p>
<input id="minutes" name="minutes" inputmode="numeric" maxlength="4" autocomplete="off" aria-invalid="${invalid('minutes')}" aria-describedby="${said('minutes')}minutes-help" value="${values.minutes}"></div>
<div class="field"><label for="reason">${w.glass_reason}</label>
<p class="help" id="reason-help">${w.glass_reason_help}</p>
<textarea id="reason" name="reason" rows="3" maxlength="${MAX_GLASS_REASON}" aria-invalid="${invalid('reason')}" aria-describedby="${said('reason')}reason-help" required>
${values.reason}</textarea></div>
<div class="row"><button class="btn danger">${w.glass_take}</button><a class="btn plain" href="${AREAS.access.path}">${w.cancel}</a></div>
</div>
</form>`
}

const saidOf = ({ said, field }: GlassProblem): Markup =>
  html`<span id="${WORDS_ID}">${field === null ? said : html`<a href="#${field}">${said}</a>`}</span>`

/** Returns the field of the form that the core refused. */
function fieldOf(error: unknown): GlassProblem['field'] {
  const { detail } = error instanceof CoreError ? error : { detail: '' }
  return typeof detail !== 'string' && detail.some(({ loc }) => loc.includes('minutes'))
    ? 'minutes'
    : null
}

export async function takeForm(visit: Visit, form: Form): Promise<Response> {
  const { db, principal, context, t } = visit
  const given = (form.get('reason') ?? '').replaceAll('\r\n', '\n').trim()
  const values = {
    id: form.get('id') ?? '',
    minutes: (form.get('minutes') ?? '').trim(),
    reason: keptText(given, MAX_GLASS_REASON),
  }
  const minutes = /^\d{1,4}$/.test(values.minutes) ? Number(values.minutes) : 0
  const wrong = (field: keyof GlassValues, said: string) =>
    show(visit, values, { said, field }, 422)
  if (values.id === '') return wrong('id', t.w.glass_choose)
  if (values.reason === '') return wrong('reason', t.w.glass_say_why)
  if (values.minutes !== '' && (minutes < 1 || minutes > MAX_GLASS_MINUTES))
    return wrong('minutes', t.w.glass_say_minutes)
  const body = { reason: values.reason, minutes: values.minutes === '' ? undefined : minutes }
  try {
    const { id } = await takeBreakGlass(db, principal, values.id, body, context)
    return visit.done('taken', `/access/requests/${id}`)
  } catch (error) {
    const { problem, status } = refusalOf(t, error, 'forbidden', 'conflict', 'invalid')
    return show(visit, values, { said: problem, field: fieldOf(error) }, status)
  }
}
