/**
 * One kept version, compared with the serving one; the history of installed versions and their differences;
 * publishers.
 */
import { html } from 'hono/html'
import type { PackageReport } from '../../contract/endpoints/operator.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { note } from '../pages/parts.ts'
import { badge } from '../pages/states.ts'
import { differenceList, refusal } from './change.ts'
import { pathOf } from './connector.ts'
import { answerPage, brief, card, check, facts, go, listed } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

export async function showVersion(visit: ConsoleVisit): Promise<Response> {
  const { c, t } = visit
  const { connector_id = '', digest = '' } = c.req.param()
  const report = await visit.ask('show_version', { params: { connector_id, digest } })
  const { id, version, replaces } = report
  const content = html`<div class="cols"><div class="stack wide">${reportCards(t, report)}</div><div class="stack wide">${activation(t, report)}</div></div>`
  return answerPage(visit, {
    ...{ place: 'connectors', content },
    title: `${id} ${version}`,
    crumbs: [{ path: pathOf(id), words: id }],
    state: trustBadge(t, report),
    lead: t.console.version.lead(replaces),
  })
}

/** Renders the signature, the wants and the breaking changes, one card each. */
export const reportCards = (
  t: PageLocale,
  { more, less, findings, host_settings, ...one }: PackageReport,
): Markup =>
  html`${card(
    { id: 'signed', title: t.console.version.signed },
    facts([
      [t.console.version.publisher, one.publisher ?? t.console.version.nobodyTrusted],
      [t.console.version.key, one.key === null ? '–' : html`<code class="wrap">${one.key}</code>`],
      [t.console.version.digest, html`<code class="wrap">${one.digest}</code>`],
    ]),
  )}
${card({ id: 'breaks', title: t.console.version.breaks }, findings.length === 0 ? html`<p class="in soft">${t.console.version.nothingBreaks}</p>` : html`<ul class="lines">${findings.map(finding)}</ul>`)}
${card(
  { id: 'more', title: t.console.version.more },
  more.words.length === 0
    ? html`<p class="in soft">${t.console.version.nothingMore}</p>`
    : differenceList(
        more.words.map((one) => `may ${one}`),
        t,
      ),
)}
${card(
  { id: 'less', title: t.console.version.less },
  less.words.length === 0
    ? html`<p class="in soft">${t.console.version.nothingLess}</p>`
    : differenceList(
        less.words.map((one) => `may no longer ${one}`),
        t,
      ),
)}
${settingsCard(t, host_settings)}`

/** Renders the host settings that the connector may need; empty if it needs none. */
function settingsCard(t: PageLocale, wanted: PackageReport['host_settings']): Markup | string {
  const w = t.console.version
  if (wanted.length === 0) return ''
  const byName = [...Map.groupBy(wanted, ({ name }) => name)]
  const lines = byName.map(([name, all]) => {
    const value = all.map(({ entry }) => entry).join(' ')
    return html`<li>${w.settingWhen[name]}: <code class="wrap">${name}='${value}'</code></li>`
  })
  return card(
    { id: 'settings', title: w.settings, note: w.settingsNote },
    html`<ul class="lines">${lines}</ul>`,
  )
}

const finding = ({ severity, where, message, advice }: PackageReport['findings'][number]): Markup =>
  html`<li><strong>${severity}</strong> <span class="mono">${where}</span>: ${message}<span class="sub">${advice}</span></li>`

export const trustBadge = (
  t: PageLocale,
  { trust, publisher }: Pick<PackageReport, 'trust' | 'publisher'>,
): Markup =>
  trust === 'invalid'
    ? badge(['bad', 'x'], t.console.one_connector.invalid)
    : trust === 'trusted'
      ? badge(['good', 'shield'], t.console.one_connector.signedBy(publisher ?? ''))
      : badge(['wait', 'alert'], t.console.one_connector.unsigned)

/** Renders the form that leads to the preview of the activation. */
function activation(t: PageLocale, { id, digest, active, more, findings }: PackageReport): Markup {
  const w = t.console.version
  if (active)
    return card({ id: 'activate', title: w.activate }, html`<p class="in">${w.serves}</p>`)
  const breaks = findings.some(({ severity }) => severity === 'breaking')
  return card(
    { id: 'activate', title: w.activate },
    html`<form class="in stack" action="${pathOf(id)}/activate">
<input type="hidden" name="digest" value="${digest}">
${more.words.length > 0 ? check({ name: 'grant', value: 'all', words: w.grantToo, help: w.grantTooHelp }) : ''}
${breaks ? check({ name: 'allow_breaking', value: 'yes', words: w.allowBreaking }) : ''}
${check({ name: 'allow_downgrade', value: 'yes', words: w.allowDowngrade })}
<div><button class="btn main">${w.activate}</button></div>
</form>`,
  )
}

const SIZE = 20

export async function showGenerations(visit: ConsoleVisit): Promise<Response> {
  const { c, now, t } = visit
  const w = t.console.generation
  const before = /^\d{1,9}$/.test(c.req.query('before') ?? '')
    ? (c.req.query('before') ?? '0')
    : '0'
  const { items } = await visit.ask('list_generations', { query: { before, limit: String(SIZE) } })
  const rows = items.map(({ generation, at, by, action, reason, difference }, place) => [
    html`${generation}<span class="sub">${t.moment(new Date(at), now)}</span>`,
    html`${w.did(action)}${reason === '' ? '' : html`: ${t.w.quoted(brief(reason))}`}<ul class="sub">${difference.slice(0, 8).map((line) => html`<li lang="en">${brief(line)}</li>`)}</ul>`,
    by,
    // A rollback to the current generation would change nothing.
    place === 0 && before === '0'
      ? ''
      : go(
          `/console/generations/${generation}/rollback`,
          html`${w.rollback}<span class="unseen"> ${w.rollbackTo(generation)}</span>`,
          'less',
        ),
  ])
  const last = items.at(-1)?.generation ?? 0
  const older =
    items.length === SIZE && last > 1
      ? html`<div class="pages"><nav aria-label="${w.list}"><a class="btn less" rel="next" href="/console/generations?before=${last}">${w.older}</a></nav></div>`
      : ''
  const nothing = { title: w.none, text: w.noneText }
  return answerPage(visit, {
    place: 'connectors',
    title: w.title,
    lead: w.lead,
    actions: go('/console/generations/compare', t.w.compare),
    content: listed(
      { id: 'list', title: w.list },
      [
        w.generation,
        w.what,
        [w.who, 'c3'],
        { words: w.rollback, look: 'num', unseen: true, folds: true },
      ],
      rows,
      nothing,
      t,
      older,
    ),
  })
}

export async function showPublishers(visit: ConsoleVisit): Promise<Response> {
  const { now, t } = visit
  const w = t.console.publisher
  const { items } = await visit.ask('list_publishers')
  const rows = items.map(({ key, name, trusted_at, revoked_at }) => [
    html`${name}<span class="sub mono">${key}</span>`,
    revoked_at ? badge(['bad', 'x'], w.revoked) : badge(['good', 'check'], w.trusted),
    t.day(new Date(trusted_at), now),
    revoked_at
      ? ''
      : go(
          `/console/publishers/${encodeURIComponent(key)}/distrust`,
          html`${w.distrust}<span class="unseen">: ${name}</span>`,
          'less danger',
        ),
  ])
  const nothing = { title: w.none, text: w.noneText }
  return answerPage(visit, {
    place: 'connectors',
    title: w.title,
    lead: w.lead,
    actions: go('/console/publishers/trust', w.trust, 'main'),
    content: listed(
      { id: 'list', title: w.list },
      [
        w.name,
        w.state,
        [w.since, 'c3'],
        { words: w.distrust, look: 'num', unseen: true, folds: true },
      ],
      rows,
      nothing,
      t,
    ),
  })
}

const GENERATIONS = '/console/generations'

/** Shows the difference between two generations. */
export async function showCompare(visit: ConsoleVisit): Promise<Response> {
  const { c, t } = visit
  const { w } = t
  const [from = '', to = ''] = [c.req.query('from'), c.req.query('to')]
  const [told, status] = await compared(visit, from, to)
  const number = (id: string, words: string, value: string) =>
    html`<div><label for="${id}">${words}</label><input id="${id}" name="${id}" type="number" min="0" value="${value}" required></div>`
  return answerPage(visit, {
    place: 'connectors',
    ...{ title: w.compare, lead: w.compare_lead },
    crumbs: [{ path: GENERATIONS, words: w.installed_history }],
    content: html`<form class="filter" action="${GENERATIONS}/compare">${number('from', w.compare_from, from)}${number('to', w.compare_to, to)}<button class="btn">${w.compare_do}</button></form>
${told}`,
    status,
  })
}

async function compared(visit: ConsoleVisit, from: string, to: string) {
  const { w } = visit.t
  if (from === '' && to === '') return ['', 200] as const
  try {
    const told = await visit.ask('compare_generations', {
      params: { generation: to },
      query: { since: from },
    })
    const title = w.compare_title(told.from, told.to)
    return [
      card({ id: 'difference', title }, differenceList(told.difference, visit.t)),
      200,
    ] as const
  } catch (error) {
    const { problem, status } = refusal(visit.t, error)
    return [note('bad', 'alert', w.compare_not, problem, 'alert'), status] as const
  }
}
