/** Access policies: access that people get by their attributes. */
import { html } from 'hono/html'
import {
  type AccessPolicyOutput,
  asCondition,
  POLICY_SORTS,
} from '../../contract/models/access-policy.ts'
import { getPolicy, listPolicies, missingAttributes } from '../../core/policies/policies.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { pageNumber, searchText } from '../pages/access.ts'
import { badge } from '../pages/states.ts'
import { appPath } from './apps.ts'
import { listPage } from './list-page.ts'
import { answerPage, brief, type Column, card, facts, go, listed } from './parts.ts'
import { draftOf, nameOfAttribute } from './policy-form.ts'
import type { ConsoleVisit } from './visit.ts'

const SIZE = 50

const stateOf = (t: PageLocale, { status, is_enabled }: AccessPolicyOutput): Markup =>
  status === 'DRAFT'
    ? badge(['', 'clock'], t.console.policy.draft)
    : is_enabled
      ? badge(['rule', 'rule'], t.console.policy.inForce)
      : badge(['', 'minus'], t.console.policy.off)

/** Reports whether this session may change policies. */
const mayWrite = ({ principal }: ConsoleVisit): boolean =>
  principal.permissions.has('policies.write') && !principal.readOnly

const actions = (t: PageLocale, { id, status, is_enabled }: AccessPolicyOutput): Markup => {
  const w = t.console.policy_edit
  const at = `/console/policies/${id}`
  const isOn = status === 'PUBLISHED' && is_enabled
  return html`${go(`${at}/edit`, w.edit)}${isOn ? go(`${at}/disable`, w.disable, 'danger') : go(`${at}/enable`, w.enable)}${go(`${at}/delete`, t.console.policy.remove, 'danger')}`
}

export async function showPolicies(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal, t } = visit
  const w = t.console.policy
  const name = searchText(c.req.query('name'))
  const page = pageNumber(c.req.query('page'))
  const sort = POLICY_SORTS.find((one) => one === c.req.query('sort')) ?? '-created'
  const found = await listPolicies(db, principal, { name, sort, page, size: SIZE })
  return listPage(visit, {
    ...{ place: 'policies', words: w, found },
    search: { name: 'name', value: name, words: w.name },
    sort: { key: 'name', asked: sort },
    columns: [w.name, w.state, [w.gives, 'c3']],
    cells: (one) => [
      html`<a class="go" href="/console/policies/${one.id}">${one.name}</a><span class="sub">${brief(one.business_justification)}</span>`,
      stateOf(t, one),
      brief(one.apps.map(({ label }) => label).join(', ')),
    ],
    actions: mayWrite(visit) ? go('/console/policies/new', t.console.policy_edit.make, 'main') : '',
  })
}

/** Renders the condition as in its form, or as JSON if it is nested. */
function conditionOf({ console: { policy_edit: w } }: PageLocale, one: AccessPolicyOutput): Markup {
  const { who, lines } = draftOf(one)
  if (who !== 'all' && who !== 'any')
    return html`<div class="in"><pre class="wrap small">${brief(JSON.stringify(one.access_condition, null, 2), 4000)}</pre></div>`
  return html`<div class="in stack tight"><p>${w.fitWho[who]}</p>
<ul class="stack tight">${lines.map(({ attribute, operator, value }) => html`<li class="wrap"><b>${brief(attribute, 200)}</b> ${w.operators[operator]} <b>${brief(value, 1000)}</b></li>`)}</ul></div>`
}

/** Renders a warning with the attribute paths of a condition that no person has. */
export const nobodyHas = (t: PageLocale, paths: readonly string[]): Markup | '' =>
  paths.length === 0
    ? ''
    : html`<p class="in wrap">${t.console.policy.nobodyHas(brief(paths.map(nameOfAttribute).join(', '), 1000))}</p>`

export async function showPolicy(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal, t } = visit
  const w = t.console.policy
  const one = await getPolicy(db, principal, c.req.param('access_policy_id') ?? '')
  if (!one) return c.notFound()
  const columns: Column[] = [w.app, w.permissions]
  const rows = one.apps.map(({ id, label, permissions, is_preapproved }) => [
    html`<a class="go" href="${appPath(id)}">${label}</a>${is_preapproved ? html`<span class="sub">${w.preapproved}</span>` : ''}`,
    permissions.length === 0 ? w.account : permissions.map((each) => each.label).join(', '),
  ])
  const asked = asCondition(one.access_condition)
  const condition = one.is_everyone_condition
    ? html`<p class="in">${w.everyone}</p>`
    : html`${conditionOf(t, one)}${nobodyHas(t, await missingAttributes(db, principal, asked))}`
  return answerPage(visit, {
    place: 'policies',
    title: one.name,
    state: stateOf(t, one),
    lead: brief(one.business_justification, 500),
    actions: mayWrite(visit) ? actions(t, one) : '',
    content: html`<div class="cols"><div class="stack wide">
${listed({ id: 'apps', title: w.gives }, columns, rows, { title: w.nothing, text: w.noneText }, t)}
${card({ id: 'condition', title: w.condition }, condition)}
</div><div class="stack wide">${card(
      { id: 'facts', title: w.facts },
      facts([[w.state, stateOf(t, one)]]),
    )}</div></div>`,
  })
}
