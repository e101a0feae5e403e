/**
 * Launches a review: its apps, the lines in scope, the reviewers and the deadline. The lines are counted
 * first.
 */
import { html } from 'hono/html'
import * as v from 'valibot'
import { queryOf } from '../../contract/endpoints/table.ts'
import { MAX_REVIEW_NAME, REVIEW_TYPES } from '../../contract/models/access-review.ts'
import { ON_DEADLINE, REVIEWER_KINDS, SECOND_KINDS } from '../../contract/models/review-item.ts'
import { SCOPE_GROUPS, ScopeFilter, type ScopePreview } from '../../contract/models/review-scope.ts'
import { isKeyOf, keysOf } from '../../contract/schema/keys.ts'
import { accountNamesIn } from '../../core/catalogue/apps/accounts.ts'
import { appsOf, listApps } from '../../core/catalogue/apps/apps.ts'
import { keptText } from '../../core/kernel/kept-text.ts'
import { launchReview } from '../../core/reviews/launch-whole.ts'
import { previewScope } from '../../core/reviews/scope-preview.ts'
import { PageError } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import { type Markup, proofField } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { note } from '../pages/parts.ts'
import { refusal, type Status } from './change.ts'
import { actionIn, enterButton } from './enter.ts'
import { digestMark } from './mark.ts'
import {
  answerPage,
  brief,
  card,
  check,
  choose,
  field,
  listed,
  option,
  thousands,
} from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

const PATH = '/console/reviews/new'
/** Maximum number of apps and of filters in the form. */
const MAX_APPS = 20
const MAX_FILTERS = 20
const FOUND = 20

type Filter = { group: string; value: string }
type Draft = {
  name: string
  deadline: string
  type: (typeof REVIEW_TYPES)[number]
  reviewers: Exclude<(typeof REVIEWER_KINDS)[number], 'NAMED'>
  second: Exclude<(typeof SECOND_KINDS)[number], 'NAMED'> | ''
  onDeadline: (typeof ON_DEADLINE)[number]
  apps: string[]
  filters: Filter[]
}

const KINDS = REVIEWER_KINDS.filter((one) => one !== 'NAMED')
const SECOND = SECOND_KINDS.filter((one) => one !== 'NAMED')
/** Filter groups with a single value. */
const GROUPS = keysOf(SCOPE_GROUPS).filter((one) => SCOPE_GROUPS[one].type !== 'DATETIME')

const EMPTY: Draft = {
  ...{ name: '', deadline: '', type: 'ENTITLEMENTS', reviewers: 'MANAGERS', onDeadline: 'LEAVE' },
  ...{ second: '', apps: [], filters: [{ group: '', value: '' }] },
}

/** Returns the input of a form. */
function draftIn(form: Form): Draft {
  const get = (name: string): string => form.get(name)?.trim() ?? ''
  const filters: Filter[] = []
  for (let at = 0; at < MAX_FILTERS && form.has(`group.${at}`); at += 1)
    filters.push({ group: get(`group.${at}`), value: get(`value.${at}`) })
  const apps = [...form].filter(([name]) => /^app\.\d{1,3}$/.test(name)).map(([, id]) => id)
  return {
    ...{ name: keptText(get('name'), MAX_REVIEW_NAME), deadline: get('deadline') },
    type: REVIEW_TYPES.find((one) => one === get('type')) ?? EMPTY.type,
    reviewers: KINDS.find((one) => one === get('reviewers')) ?? EMPTY.reviewers,
    second: SECOND.find((one) => one === get('second_reviewers')) ?? EMPTY.second,
    onDeadline: ON_DEADLINE.find((one) => one === get('on_deadline')) ?? EMPTY.onDeadline,
    apps: [...new Set(apps)],
    filters: filters.length === 0 ? EMPTY.filters : filters,
  }
}

/**
 * Converts filters to the API's form. An attribute has the value `name=value`.
 *
 * @throws CoreError `invalid`
 */
function scopeOf(t: PageLocale, filters: readonly Filter[]): ScopeFilter[] {
  const w = t.console.review_launch
  return filters
    .filter(({ group, value }) => group !== '' || value !== '')
    .map(({ group, value }) => {
      if (!isKeyOf(SCOPE_GROUPS, group)) throw new PageError('invalid', w.noGroup)
      const [, attribute = '', text = ''] = /^([^=]+)=(.*)$/.exec(value) ?? []
      const isAttribute = group === 'CUSTOM_ATTRIBUTE'
      const [name, label] = isAttribute
        ? [attribute.trim(), attribute.trim()]
        : [value, SCOPE_GROUPS[group].name]
      if (name === '') throw new PageError('invalid', isAttribute ? w.noAttribute : w.noValue)
      const parsed = v.safeParse(ScopeFilter, {
        ...{ group, name, label },
        value: isAttribute ? text.trim() : value,
      })
      if (!parsed.success) throw new PageError('invalid', w.noValue)
      return parsed.output
    })
}

type Counted = {
  id: string
  name: string
  told: ScopePreview
  /** Display names of the accounts in the examples, by their ids in the app. */
  accounts: ReadonlyMap<string, string>
}
type Shown = {
  draft: Draft
  find?: string | null
  counted?: Counted[] | null
  problem?: Markup | null
  status?: Status
}

export const showNewReview = (visit: ConsoleVisit): Promise<Response> =>
  show(visit, { draft: EMPTY, find: '' })

/** Handles the buttons of the form. All but the last show the form again. */
export async function takeReview(visit: ConsoleVisit, form: Form): Promise<Response> {
  const draft = draftIn(form)
  const action = actionIn(form, 'count')
  const find = form.get('find')?.trim() ?? ''
  const found = find === '' ? null : find
  if (action === 'add') {
    const filters = [...draft.filters, { group: '', value: '' }].slice(0, MAX_FILTERS)
    return show(visit, { draft: { ...draft, filters }, find: found })
  }
  if (action === 'find') return show(visit, { draft, find })
  try {
    const { db, principal, context, t } = visit
    if (draft.apps.length > MAX_APPS)
      throw new PageError('invalid', t.console.review_launch.tooMany(MAX_APPS))
    if (action !== 'launch' || form.get('seen') !== digestMark(draft))
      return show(visit, { draft, find: found, counted: await count(t, visit, draft) })
    const scope_filters = scopeOf(t, draft.filters)
    const id = await launchReview(
      db,
      principal,
      {
        ...{ name: draft.name, deadline_at: deadlineOf(t, draft) },
        apps: draft.apps.map((one) => ({ id: one, review_type: draft.type, scope_filters })),
        settings: {
          ...{ reviewers: draft.reviewers, on_deadline: draft.onDeadline },
          ...{ user_ids: [], group_ids: [] },
          second_reviewers: draft.second === '' ? null : draft.second,
          ...{ second_user_ids: [], second_group_ids: [] },
        },
      },
      context,
    )
    return visit.done('review-launched', `/console/reviews/${id}`)
  } catch (error) {
    return show(visit, { draft, find: found, ...refusal(visit.t, error) })
  }
}

/** Returns the end of the chosen day. @throws CoreError `invalid` */
function deadlineOf(t: PageLocale, { deadline, name }: Draft): string {
  if (name === '') throw new PageError('invalid', t.console.review_launch.noName)
  if (!/^\d{4}-\d\d-\d\d$/.test(deadline))
    throw new PageError('invalid', t.console.review_launch.noDeadline)
  return `${deadline}T23:59:59Z`
}

/** Counts the lines of each app. @throws CoreError `bad_request`, `not_found`, `invalid` */
async function count(
  t: PageLocale,
  { db, principal, now }: ConsoleVisit,
  draft: Draft,
): Promise<Counted[]> {
  if (draft.apps.length === 0) throw new PageError('invalid', t.console.review_launch.noApps)
  if (new Date(deadlineOf(t, draft)) <= now)
    throw new PageError('invalid', t.console.review_launch.noDeadline)
  const scope_filters = scopeOf(t, draft.filters)
  const names = new Map((await appsOf(db, draft.apps)).map(({ id, name }) => [id, name]))
  const all: Counted[] = []
  for (const id of draft.apps) {
    const told = await previewScope(db, principal, { id, review_type: draft.type, scope_filters })
    const ids = told.examples.map((one) => one.unique_identifier)
    const accounts = await accountNamesIn(db, id, ids)
    all.push({ id, told, accounts, name: names.get(id) ?? id })
  }
  return all
}

async function show(
  visit: ConsoleVisit,
  { draft, find = null, counted = null, problem = null, status = 200 }: Shown,
): Promise<Response> {
  const { t } = visit
  const w = t.console.review_launch
  const chosen = await chosenApps(visit, draft.apps)
  const more = find === null ? [] : await foundApps(visit, find)
  const content = html`${problem === null ? '' : note('bad', 'alert', w.notLaunched, problem, 'alert')}
${counted === null ? '' : countCard(t, counted)}
<form class="stack" method="post" action="${PATH}">
${proofField(visit.proof)}
${enterButton(w.count, find)}
${counted === null ? '' : html`<input type="hidden" name="seen" value="${digestMark(draft)}">${buttons(t, true)}`}
${card(
  { id: 'about', title: w.about },
  html`<div class="in stack">
${field({ t, id: 'name', label: w.name, value: draft.name, most: MAX_REVIEW_NAME, required: true })}
${field({ t, id: 'deadline', label: w.deadline, help: w.deadlineHelp, value: draft.deadline, type: 'date', required: true })}
${choose({ id: 'type', label: w.type, value: draft.type, all: REVIEW_TYPES.map((one) => [one, w.types[one]] as const) })}
${choose({ id: 'reviewers', label: w.reviewers, value: draft.reviewers, all: KINDS.map((one) => [one, w.kinds[one]] as const) })}
${choose({ id: 'second_reviewers', label: w.second, value: draft.second, all: [['', w.noSecond] as const, ...SECOND.map((one) => [one, w.secondKinds[one]] as const)] })}
${choose({ id: 'on_deadline', label: w.onDeadline, value: draft.onDeadline, all: ON_DEADLINE.map((one) => [one, w.deadlines[one]] as const) })}
</div>`,
)}
${appsCard(t, draft, chosen, find, more)}
${scopeCard(t, draft)}
${buttons(t, false)}
</form>`
  return answerPage(visit, {
    ...{ place: 'reviews', content },
    ...{ title: w.title, lead: w.lead },
    status,
  })
}

type App = { id: string; name: string }

async function chosenApps({ db, principal }: ConsoleVisit, ids: readonly string[]): Promise<App[]> {
  const known = new Map(
    (await appsOf(db, ids))
      .filter(({ domainId }) => domainId === principal.domainId)
      .map(({ id, name }) => [id, name]),
  )
  return ids.map((id) => ({ id, name: known.get(id) ?? id }))
}

async function foundApps({ db, principal }: ConsoleVisit, name: string): Promise<App[]> {
  const query = queryOf('list_apps', {
    ...{ name_search: name, disconnected: false, size: FOUND },
  })
  const { items } = await listApps(db, principal, query)
  return items.map(({ id, user_friendly_label }) => ({ id, name: user_friendly_label }))
}

const buttons = (t: PageLocale, isSeen: boolean): Markup =>
  html`<div class="row">${isSeen ? html`<button class="btn main" name="do" value="launch">${t.console.review_launch.launch}</button>` : html`<button class="btn" name="do" value="count">${t.console.review_launch.count}</button>`}<a class="btn plain" href="/console/reviews">${t.console.review_launch.cancel}</a></div>`

function appsCard(
  t: PageLocale,
  { apps }: Draft,
  chosen: readonly App[],
  find: string | null,
  more: readonly App[],
): Markup {
  const w = t.console.review_launch
  const others = more.filter(({ id }) => !apps.includes(id))
  return card(
    { id: 'apps', title: w.apps },
    html`<div class="in stack">
${chosen.map(({ id, name }, at) => check({ name: `app.${at}`, value: id, words: brief(name, 120), isOn: true }))}
<div class="filter"><div class="grow"><label for="find-apps">${w.find}</label><input id="find-apps" name="find" type="search" value="${find ?? ''}" maxlength="200"></div><button class="btn" name="do" value="find">${w.findDo}</button></div>
${find !== null && others.length === 0 ? html`<p class="soft" role="status">${w.foundNothing}</p>` : ''}
${others.map(({ id, name }, at) => check({ name: `app.${chosen.length + at}`, value: id, words: brief(name, 120) }))}
</div>`,
  )
}

const scopeCard = (t: PageLocale, { filters }: Draft): Markup =>
  card(
    { id: 'scope', title: t.console.review_launch.scope, note: t.console.review_launch.scopeNote },
    html`<div class="in stack">
${filters.map(
  (
    { group, value },
    at,
  ) => html`<fieldset class="filter"><legend class="unseen">${t.console.review_launch.filter(at + 1)}</legend>
<div class="grow"><label for="group.${at}">${t.console.review_launch.group}</label><select id="group.${at}" name="group.${at}"><option value="">${t.console.review_launch.anyGroup}</option>${GROUPS.map((one) => option(one, t.console.scope_names[one], group))}</select></div>
<div class="grow"><label for="value.${at}">${t.console.review_launch.value}</label><input id="value.${at}" name="value.${at}" value="${value}" maxlength="255" autocomplete="off"></div>
</fieldset>`,
)}
${filters.length >= MAX_FILTERS ? '' : html`<div><button class="btn" name="do" value="add">${t.console.review_launch.add}</button></div>`}
<details class="more"><summary>${t.console.review_launch.groupsHelp}</summary><dl class="kv small">${GROUPS.map((one) => html`<dt>${t.console.scope_names[one]}</dt><dd>${t.console.scope_keeps[one].replaceAll('`', '')}</dd>`)}</dl></details>
</div>`,
  )

function countCard(t: PageLocale, counted: readonly Counted[]): Markup {
  const w = t.console.review_launch
  const sum = counted.reduce((all, { told }) => all + told.items, 0)
  const examples = counted.flatMap(({ name, told, accounts }) =>
    told.examples.map((one) =>
      [accounts.get(one.unique_identifier) ?? one.unique_identifier, one.label ?? '', name].filter(
        Boolean,
      ),
    ),
  )
  return html`${listed(
    { id: 'counted', title: w.counted(thousands(sum, t)) },
    [w.app, [w.lines, 'num'], [w.accounts, 'num c3'], [w.excluded, 'num c3']],
    counted.map(({ name, told }) => {
      const excluded = Object.values(told.excluded).reduce((all, one) => all + one, 0)
      return [
        brief(name, 120),
        ...[told.items, told.accounts, excluded].map((one) => thousands(one, t)),
      ]
    }),
    { title: w.noApps, text: '' },
    t,
  )}
${examples.length === 0 ? '' : card({ id: 'examples', title: w.examples }, html`<ul class="lines">${examples.slice(0, 20).map((one) => html`<li class="wrap">${brief(one.join(' · '), 200)}</li>`)}</ul>`)}`
}
