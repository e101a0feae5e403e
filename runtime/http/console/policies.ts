/** Access policies: who is given what by what they are. */
import { html } from 'hono/html'
import type { AccessPolicyOutput } from '../../contract/models/access-policy.ts'
import { getPolicy, listPolicies } from '../../core/policies/policies.ts'
import type { Markup } from '../frame/layout.ts'
import { pageNumber, searchText } from '../pages/access.ts'
import { badge } from '../pages/states.ts'
import { appPath } from './apps.ts'
import {
  brief,
  type Column,
  card,
  facts,
  filter,
  go,
  listed,
  pagesNav,
  row,
  shell,
} from './parts.ts'
import type { ConsoleVisit } from './visit.ts'
import { POLICY_EDIT_WORDS as EDIT, POLICY_WORDS as WORDS } from './words/policies.ts'

const SIZE = 50

const COLUMNS: Column[] = [
  { words: WORDS.name },
  { words: WORDS.state },
  { words: WORDS.gives, look: 'c3' },
]

const stateOf = ({ status, is_enabled }: AccessPolicyOutput): Markup =>
  status === 'DRAFT'
    ? badge('', 'clock', WORDS.draft)
    : is_enabled
      ? badge('rule', 'rule', WORDS.inForce)
      : badge('', 'minus', WORDS.off)

/** Whether the person, signed in as they are, may change policies. */
const mayWrite = ({ principal }: ConsoleVisit): boolean =>
  principal.permissions.has('policies.write') && !principal.readOnly

const actions = ({ id, status, is_enabled }: AccessPolicyOutput): Markup => {
  const at = `/console/policies/${id}`
  const isOn = status === 'PUBLISHED' && is_enabled
  return html`${go(`${at}/edit`, EDIT.edit)}${isOn ? go(`${at}/disable`, EDIT.disable, 'danger') : go(`${at}/enable`, EDIT.enable)}${go(`${at}/delete`, WORDS.remove, 'danger')}`
}

export async function showPolicies(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal } = visit
  const name = searchText(c.req.query('name'))
  const page = pageNumber(c.req.query('page'))
  const found = await listPolicies(db, principal, { name, page, size: SIZE })
  const rows = found.items.map((one) =>
    row(COLUMNS, [
      html`<a class="go" href="/console/policies/${one.id}">${one.name}</a><span class="sub">${brief(one.business_justification)}</span>`,
      stateOf(one),
      brief(one.apps.map(({ label }) => label).join(', ')),
    ]),
  )
  const query = name === '' ? [] : [['name', name]]
  const at = (to: number) =>
    `/console/policies?${new URLSearchParams([...query, ['page', String(to)]])}`
  const nothing =
    name === ''
      ? { title: WORDS.none, text: WORDS.noneText }
      : { title: WORDS.noneFound, text: WORDS.noneFoundText, icon: 'search' as const }
  return c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'policies', isPlace: true },
      title: WORDS.title,
      lead: WORDS.lead,
      actions: mayWrite(visit) ? go('/console/policies/new', EDIT.make, 'main') : '',
      content: html`${filter('/console/policies', WORDS.title, { name: 'name', words: WORDS.name, value: name })}
${listed({ id: 'list', title: WORDS.title, count: found.total }, COLUMNS, rows, nothing, pagesNav(found, WORDS.title, at))}`,
    }),
  )
}

export async function showPolicy(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal } = visit
  const one = await getPolicy(db, principal, c.req.param('access_policy_id') ?? '')
  if (!one) return c.notFound()
  const columns: Column[] = [{ words: WORDS.app }, { words: WORDS.permissions }]
  const rows = one.apps.map(({ id, label, permissions, is_preapproved }) =>
    row(columns, [
      html`<a class="go" href="${appPath(id)}">${label}</a>${is_preapproved ? html`<span class="sub">${WORDS.preapproved}</span>` : ''}`,
      permissions.length === 0 ? WORDS.account : permissions.map((each) => each.label).join(', '),
    ]),
  )
  const condition = one.is_everyone_condition
    ? html`<p class="in">${WORDS.everyone}</p>`
    : html`<div class="in"><pre class="wrap small">${brief(JSON.stringify(one.access_condition, null, 2), 4000)}</pre></div>`
  return c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'policies' },
      title: one.name,
      state: stateOf(one),
      lead: brief(one.business_justification, 500),
      actions: mayWrite(visit) ? actions(one) : '',
      content: html`<div class="cols"><div class="stack wide">
${listed({ id: 'apps', title: WORDS.gives }, columns, rows, { title: WORDS.nothing, text: WORDS.noneText })}
${card({ id: 'condition', title: WORDS.condition }, condition)}
</div><div class="stack wide">${card(
        { id: 'facts', title: WORDS.facts },
        facts([[WORDS.state, stateOf(one)]]),
      )}</div></div>`,
    }),
  )
}
