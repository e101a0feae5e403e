/** A version that is kept, beside what serves; the history of what is installed; publishers. */
import { html } from 'hono/html'
import type { PackageReport } from '../../contract/endpoints/operator.ts'
import type { Markup } from '../frame/layout.ts'
import { day, moment } from '../frame/words.ts'
import { badge } from '../pages/states.ts'
import { differences } from './change.ts'
import { pathOf } from './connector.ts'
import { brief, type Column, card, check, facts, go, listed, row, shell } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'
import {
  GENERATION_WORDS,
  ONE_CONNECTOR_WORDS,
  PUBLISHER_WORDS,
  VERSION_WORDS as WORDS,
} from './words/runtime.ts'

export async function showVersion(visit: ConsoleVisit): Promise<Response> {
  const { c } = visit
  const { connector_id = '', digest = '' } = c.req.param()
  const report = await visit.ask('show_version', { params: { connector_id, digest } })
  const { id, version, replaces } = report
  const content = html`<div class="cols"><div class="stack wide">${reportCards(report)}</div><div class="stack wide">${activation(report)}</div></div>`
  return c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'connectors', content },
      title: `${id} ${version}`,
      crumbs: [{ path: pathOf(id), words: id }],
      state: trustBadge(report),
      lead: WORDS.lead(replaces),
    }),
  )
}

/** Who signed it, what it wants, what it breaks: a card for each. */
export const reportCards = ({ more, less, findings, ...one }: PackageReport): Markup =>
  html`${card(
    { id: 'signed', title: WORDS.signed },
    facts([
      [WORDS.publisher, one.publisher ?? WORDS.nobodyTrusted],
      [WORDS.key, one.key === null ? '–' : html`<code class="wrap">${one.key}</code>`],
      [WORDS.digest, html`<code class="wrap">${one.digest}</code>`],
    ]),
  )}
${card({ id: 'breaks', title: WORDS.breaks }, findings.length === 0 ? html`<p class="in soft">${WORDS.nothingBreaks}</p>` : html`<ul class="lines">${findings.map(finding)}</ul>`)}
${card({ id: 'more', title: WORDS.more }, more.words.length === 0 ? html`<p class="in soft">${WORDS.nothingMore}</p>` : differences(more.words.map((one) => `may ${one}`)))}
${card({ id: 'less', title: WORDS.less }, less.words.length === 0 ? html`<p class="in soft">${WORDS.nothingLess}</p>` : differences(less.words.map((one) => `may no longer ${one}`)))}`

const finding = ({ severity, where, message, advice }: PackageReport['findings'][number]): Markup =>
  html`<li><strong>${severity}</strong> <span class="mono">${where}</span>: ${message}<span class="sub">${advice}</span></li>`

export const trustBadge = ({
  trust,
  publisher,
}: Pick<PackageReport, 'trust' | 'publisher'>): Markup =>
  trust === 'invalid'
    ? badge('bad', 'x', ONE_CONNECTOR_WORDS.invalid)
    : trust === 'trusted'
      ? badge('good', 'shield', ONE_CONNECTOR_WORDS.signedBy(publisher ?? ''))
      : badge('wait', 'alert', ONE_CONNECTOR_WORDS.unsigned)

/** The way to the page that says what would be different. */
function activation({ id, digest, active, more, findings }: PackageReport): Markup {
  if (active)
    return card({ id: 'activate', title: WORDS.activate }, html`<p class="in">${WORDS.serves}</p>`)
  const breaks = findings.some(({ severity }) => severity === 'breaking')
  return card(
    { id: 'activate', title: WORDS.activate },
    html`<form class="in stack" action="${pathOf(id)}/activate">
<input type="hidden" name="digest" value="${digest}">
${more.words.length > 0 ? check({ name: 'grant', value: 'all', words: WORDS.grantToo, help: WORDS.grantTooHelp }) : ''}
${breaks ? check({ name: 'allow_breaking', value: 'yes', words: WORDS.allowBreaking }) : ''}
${check({ name: 'allow_downgrade', value: 'yes', words: WORDS.allowDowngrade })}
<div><button class="btn main">${WORDS.activate}</button></div>
</form>`,
  )
}

const SIZE = 20

const GENERATIONS: Column[] = [
  { words: GENERATION_WORDS.generation },
  { words: GENERATION_WORDS.what },
  { words: GENERATION_WORDS.who, look: 'c3' },
  { words: GENERATION_WORDS.rollback, look: 'num', unseen: true },
]

export async function showGenerations(visit: ConsoleVisit): Promise<Response> {
  const { c, now } = visit
  const before = /^\d{1,9}$/.test(c.req.query('before') ?? '')
    ? (c.req.query('before') ?? '0')
    : '0'
  const { items } = await visit.ask('list_generations', { query: { before, limit: String(SIZE) } })
  const rows = items.map(({ generation, at, by, action, reason, difference }, place) =>
    row(GENERATIONS, [
      html`${generation}<span class="sub">${moment(new Date(at), now)}</span>`,
      html`${action}${reason === '' ? '' : html`: “${brief(reason)}”`}<ul class="sub">${difference.slice(0, 8).map((line) => html`<li>${brief(line)}</li>`)}</ul>`,
      by,
      // To go back to what serves now would change nothing.
      place === 0 && before === '0'
        ? ''
        : go(
            `/console/generations/${generation}/rollback`,
            html`${GENERATION_WORDS.rollback}<span class="unseen"> to ${generation}</span>`,
            'less',
          ),
    ]),
  )
  const last = items.at(-1)?.generation ?? 0
  const older =
    items.length === SIZE && last > 1
      ? html`<div class="pages"><nav aria-label="${GENERATION_WORDS.list}"><a class="btn less" rel="next" href="/console/generations?before=${last}">${GENERATION_WORDS.older}</a></nav></div>`
      : ''
  const nothing = { title: GENERATION_WORDS.none, text: GENERATION_WORDS.noneText }
  return c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'connectors' },
      title: GENERATION_WORDS.title,
      lead: GENERATION_WORDS.lead,
      content: listed(
        { id: 'list', title: GENERATION_WORDS.list },
        GENERATIONS,
        rows,
        nothing,
        older,
      ),
    }),
  )
}

const PUBLISHERS: Column[] = [
  { words: PUBLISHER_WORDS.name },
  { words: PUBLISHER_WORDS.state },
  { words: PUBLISHER_WORDS.since, look: 'c3' },
  { words: PUBLISHER_WORDS.distrust, look: 'num', unseen: true },
]

export async function showPublishers(visit: ConsoleVisit): Promise<Response> {
  const { c, now } = visit
  const { items } = await visit.ask('list_publishers')
  const rows = items.map(({ key, name, trusted_at, revoked_at }) =>
    row(PUBLISHERS, [
      html`${name}<span class="sub mono">${key}</span>`,
      revoked_at
        ? badge('bad', 'x', PUBLISHER_WORDS.revoked)
        : badge('good', 'check', PUBLISHER_WORDS.trusted),
      day(new Date(trusted_at), now),
      revoked_at
        ? ''
        : go(
            `/console/publishers/${encodeURIComponent(key)}/distrust`,
            html`${PUBLISHER_WORDS.distrust}<span class="unseen">: ${name}</span>`,
            'less danger',
          ),
    ]),
  )
  const nothing = { title: PUBLISHER_WORDS.none, text: PUBLISHER_WORDS.noneText }
  return c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'connectors' },
      title: PUBLISHER_WORDS.title,
      lead: PUBLISHER_WORDS.lead,
      actions: go('/console/publishers/trust', PUBLISHER_WORDS.trust, 'main'),
      content: listed({ id: 'list', title: PUBLISHER_WORDS.list }, PUBLISHERS, rows, nothing),
    }),
  )
}
