/** The registry in the console: published and outdated connectors, and installation of a package. */
import { html } from 'hono/html'
import type { Published } from '../../contract/endpoints/published-indexes.ts'
import { notFound } from '../../contract/errors/problem.ts'
import type { Form } from '../frame/form.ts'
import { type Markup, proofField } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { pageNumber, searchText } from '../pages/access.ts'
import { empty, note, pagesNav } from '../pages/parts.ts'
import { badge } from '../pages/states.ts'
import { refusal, type Status } from './change.ts'
import { pathOf } from './connector.ts'
import { type PackageShown, reportIn } from './install.ts'
import {
  answerPage,
  brief,
  card,
  check,
  choose,
  columnsOf,
  field,
  filter,
  go,
  listed,
} from './parts.ts'
import { reportCards, trustBadge } from './versions.ts'
import type { ConsoleVisit } from './visit.ts'

const PATH = '/console/registry'
/** Connectors per page. */
const SIZE = 50
const LOOKS = [undefined, 'c3', 'c2', 'num'] as const

const publishedPath = (id: string): string => `${PATH}/${encodeURIComponent(id)}`

export async function showRegistry(visit: ConsoleVisit): Promise<Response> {
  const { c, t } = visit
  const { w } = t
  if (visit.deps.registries.length === 0) return showUnset(visit)
  const search = searchText(c.req.query('search'))
  const isOld = c.req.query('outdated') === 'yes'
  const page = pageNumber(c.req.query('page'))
  const query = { search, outdated: String(isOld), page: String(page), limit: String(SIZE) }
  const asked = await asking(visit, query)
  if ('problem' in asked)
    return answerPage(visit, {
      ...{ place: 'connectors', title: w.registry_title },
      content: note('bad', 'alert', w.registry_away, asked.problem, 'alert'),
      status: asked.status,
    })
  const { registry, publisher, total, items } = asked.told
  const kept: Record<string, string> = isOld ? { outdated: 'yes' } : {}
  const at = (number: number) =>
    `${PATH}?${new URLSearchParams({ ...kept, ...(search === '' ? {} : { search }), page: String(number) })}`
  const pages = { page, pages: Math.ceil(total / SIZE), total }
  const other = isOld ? go(PATH, w.registry_all) : go(`${PATH}?outdated=yes`, w.registry_outdated)
  return answerPage(visit, {
    ...{ place: 'connectors', title: w.registry_title },
    lead: w.registry_lead(registry, publisher),
    actions: other,
    content: html`${filter(PATH, w.registry_title, { name: 'search', words: w.registry_find, value: search, kept }, t)}
${listed(
  { id: 'list', title: w.registry_title, count: total },
  columnsOf(w.registry_columns, LOOKS),
  items.map((one) => cells(t, one)),
  { title: w.registry_none, text: w.registry_none_text, icon: 'search' },
  t,
  pagesNav(t, pages, w.registry_title, at),
)}`,
  })
}

/** Explains how to name a registry in the settings. Having none is not a failure. */
async function showUnset(visit: ConsoleVisit): Promise<Response> {
  const { t } = visit
  const { w } = t
  const text = html`${w.registry_unset_text} <a href="/docs/operate/registry">${w.registry_how}</a>`
  return answerPage(visit, {
    place: 'connectors',
    ...{
      title: w.registry_title,
      content: card({ id: 'unset', title: w.registry }, empty('info', w.registry_unset, text)),
    },
  })
}

type Told = Awaited<ReturnType<typeof publishedBy>>
const publishedBy = (visit: ConsoleVisit, query: Record<string, string>) =>
  visit.ask('list_published', { query })

/** Returns the published connectors, or why they cannot be listed. */
async function asking(
  visit: ConsoleVisit,
  query: Record<string, string>,
): Promise<{ told: Told } | { problem: Markup | string; status: Status }> {
  try {
    return { told: await publishedBy(visit, query) }
  } catch (error) {
    return refusal(visit.t, error)
  }
}

function cells({ w }: PageLocale, one: Published): (Markup | string)[] {
  const { id, name, description, newest, installed, outdated, withdrawn, versions } = one
  const isGone = versions.every((version) => version.withdrawn !== null)
  const words = outdated ? w.registry_upgrade : w.registry_look
  return [
    html`${brief(name, 100)}<span class="sub"><span class="mono">${id}</span>${description === '' ? '' : html` · ${brief(description)}`}</span>`,
    newest ??
      html`<span class="soft">${isGone ? w.registry_withdrawn : w.registry_not_here}</span>`,
    installed === null
      ? html`<span class="soft">${w.registry_nowhere}</span>`
      : html`${installed} ${withdrawn === null ? '' : badge(['bad', 'alert'], w.registry_withdrawn)} ${outdated ? badge(['wait', 'alert'], w.registry_is_old) : ''}${withdrawn === null ? '' : html`<span class="sub">${brief(withdrawn.reason)}</span>`}`,
    newest === null
      ? ''
      : go(publishedPath(id), html`${words}<span class="unseen"> ${name}</span>`, 'less'),
  ]
}

export const showPublished = (visit: ConsoleVisit): Promise<Response> => show(visit, {})

/** Returns the published connector of the address. @throws CoreError `not_found`, `conflict` */
async function foundOf(visit: ConsoleVisit): Promise<Published> {
  const id = visit.c.req.param('published_id') ?? ''
  const { items } = await visit.ask('list_published', { query: { search: id, limit: '500' } })
  const found = items.find((one) => one.id === id)
  if (!found) throw notFound('Connector')
  return found
}

async function show(
  visit: ConsoleVisit,
  { typed = new Map(), problem, report = null, status = 200 }: PackageShown,
): Promise<Response> {
  const { t } = visit
  const { w } = t
  const one = await foundOf(visit)
  const fitting = one.versions.filter(({ runs_here, withdrawn }) => runs_here && withdrawn === null)
  // By default the first version is selected, which may be a prerelease. Select the newest release instead.
  const meant = fitting[0]?.version === one.newest ? '' : (one.newest ?? '')
  const form = html`<form class="in stack" method="post" action="${publishedPath(one.id)}">
${proofField(visit.proof)}
${choose({
  ...{ id: 'version', label: w.published_version, value: typed.get('version') ?? meant },
  all: fitting.map(({ version, signed }) => [
    version,
    signed ? version : `${version} (${w.published_not_signed})`,
  ]),
})}
${check({ name: 'change_publisher', value: 'yes', words: w.published_changed, isOn: typed.get('change_publisher') === 'yes' })}
${field({ t, id: 'reason', label: w.published_why, value: typed.get('reason') ?? '' })}
<div class="row"><button class="btn main" name="keep" value="yes">${w.published_keep}</button><button class="btn" name="keep" value="no">${w.published_check}</button></div>
</form>`
  const said =
    report === null
      ? ''
      : html`${problem === undefined ? note('good', 'check', w.published_passes(report.id, report.version), '', 'status') : ''}
<div class="row">${trustBadge(t, report)}</div>
${reportCards(t, report)}`
  return answerPage(visit, {
    place: 'connectors',
    ...{ title: one.name, lead: w.published_lead },
    crumbs: [{ path: PATH, words: w.registry_title }],
    content: html`${servesNote(t, one)}
${problem === undefined ? '' : note('bad', 'alert', w.published_not_kept, problem, 'alert')}
${fitting.length === 0 ? '' : card({ id: 'package', title: w.published_package }, form)}
${withdrawnCard(visit, one)}
${said}`,
    status,
  })
}

/** Renders a warning that the serving version has been withdrawn. */
const servesNote = ({ w }: PageLocale, { id, installed, withdrawn }: Published): Markup | string =>
  withdrawn === null
    ? ''
    : note(
        'bad',
        'alert',
        w.published_serves_withdrawn(id, installed ?? ''),
        html`${w.quoted(withdrawn.reason)} ${w.published_serves_withdrawn_text}`,
      )

/** Renders the withdrawn versions and the reasons. */
function withdrawnCard({ t, now }: ConsoleVisit, { versions }: Published): Markup | string {
  const { w } = t
  const gone = versions.flatMap(({ version, withdrawn }) =>
    withdrawn === null ? [] : [{ version, ...withdrawn }],
  )
  if (gone.length === 0) return ''
  const lines = gone.map(
    ({ version, at, reason }) =>
      html`<li><strong>${version}</strong>: ${reason}<span class="sub">${w.published_withdrawn_on} ${t.day(new Date(at), now)}</span></li>`,
  )
  const about = { id: 'withdrawn', title: w.published_withdrawn, count: gone.length }
  return card({ ...about, note: w.published_withdrawn_note }, html`<ul class="lines">${lines}</ul>`)
}

/** Fetches a package, and keeps it unless only a check was requested. */
export async function takePublished(visit: ConsoleVisit, form: Form): Promise<Response> {
  const keeps = form.get('keep') === 'yes'
  const id = visit.c.req.param('published_id') ?? ''
  const body = {
    name: `${id}@${form.get('version')?.trim() ?? ''}`,
    change_publisher: form.get('change_publisher') === 'yes',
    reason: form.get('reason')?.trim() ?? '',
    dry_run: !keeps,
  }
  try {
    const { package: report } = await visit.ask('install_published', { body })
    if (!keeps) return show(visit, { typed: form, report })
    return visit.done('published-kept', `${pathOf(report.id)}/versions/${report.digest}`)
  } catch (error) {
    return show(visit, { typed: form, ...refusal(visit.t, error), report: reportIn(error) })
  }
}
