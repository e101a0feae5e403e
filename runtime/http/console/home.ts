/** The first page of the console: items that need attention, open tasks, and call statistics. */
import { html } from 'hono/html'
import type { Attention, Overview } from '../../contract/endpoints/overview.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { type Place, placesOf, SIDE } from '../frame/side.ts'
import { empty } from '../pages/parts.ts'
import { barChart, key } from './charts.ts'
import {
  answerPage,
  brief,
  type Column,
  card,
  figures,
  go,
  listed,
  mark,
  table,
  thousands,
} from './parts.ts'
import { clockOf, failedOf, hourMarks, type Slot, slotsOf } from './slots.ts'
import type { ConsoleVisit } from './visit.ts'

const SPAN = { hours: 24, stepMinutes: 60 } as const

export async function showHome(visit: ConsoleVisit): Promise<Response> {
  const { principal, now, t } = visit
  const w = t.console.home
  const page = { place: 'home', isPlace: true } as const
  if (!principal.permissions.has('operator'))
    return answerPage(visit, {
      ...page,
      title: w.plainTitle,
      lead: w.plainLead,
      content: placesList(t, visit),
    })
  const overview = await visit.ask('show_overview')
  const { items } = await visit.ask('list_call_minutes')
  const { attention } = overview
  const bad = attention.filter(({ level }) => level === 'bad').length
  const content = html`${needs(t, attention, now)}
${standing(t, overview, now)}
<div class="cols">
<div class="stack wide">${calls(t, slotsOf(items, now, SPAN))}</div>
<div class="stack wide">${turnsOf(t, overview, now)}</div>
</div>`
  return answerPage(visit, {
    ...page,
    title: w.title(bad, attention.length - bad),
    content,
  })
}

/** Returns the purpose of each place, in the words of its own page. */
const aboutPlace = ({ w, console: all }: PageLocale): Partial<Record<Place, string>> => ({
  ...{ apps: all.app.lead, requests: all.request.lead, people: all.person.lead },
  ...{ policies: all.policy.lead, reviews: w.reviews_lead, cost: all.cost.lead },
  ...{ scim: w.scim_lead, log: all.home.aboutLog },
})

const placesList = (t: PageLocale, { principal }: ConsoleVisit): Markup =>
  html`<ul class="tiles">${placesOf(principal)
    .filter((name) => name !== 'home')
    .map(
      (name) =>
        html`<li class="card tile"><h2><a class="go over" href="${SIDE[name].path}">${t.w[SIDE[name].words]}</a></h2><p class="small soft">${aboutPlace(t)[name] ?? ''}</p></li>`,
    )}</ul>`

/** Returns the address for an item that needs attention. */
function placeOf({ kind, id, name }: Attention): string {
  const at = encodeURIComponent(id ?? name)
  if (kind.startsWith('connector'))
    return id === null ? '/console/connectors' : `/console/connectors/${at}`
  if (kind === 'version_waits') return `/console/connectors/${at}#versions`
  if (kind === 'webhook_failing') return '/console/webhooks'
  if (kind === 'host_problem') return '/console/background#hosts'
  if (kind === 'removal_failed') return `/access/requests/${at}`
  return `/console/apps/${at}`
}

function needs(t: PageLocale, attention: readonly Attention[], now: Date): Markup {
  const w = t.console.home
  return listed(
    { id: 'attention', title: w.attention, count: attention.length, note: w.worstFirst },
    [w.what, [w.since, 'c3'], { words: w.action, look: 'num', unseen: true }],
    attention.map((one) => {
      const title = w.kinds[one.kind](brief(one.name, 120))
      const isBad = one.level === 'bad'
      const said = `${isBad ? w.failed : w.waits}: `
      const name = html`<span class="row keep top-edge">${mark(isBad ? 'bad' : 'wait', isBad ? 'alert' : 'clock', said)}<span class="fit">${title}${one.detail ? html`<span class="sub">${brief(one.detail)}</span>` : ''}</span></span>`
      const since = one.since ? t.age(new Date(one.since), now) : ''
      const place = placeOf(one)
      const look = go(place, html`${w.look}<span class="unseen">: ${title}</span>`, 'less')
      return [name, since, look]
    }),
    { icon: 'check', title: w.fine, text: w.fineText },
    t,
  )
}

const standing = (
  t: PageLocale,
  { requests, apps, connectors, hosts }: Overview,
  now: Date,
): Markup =>
  figures([
    {
      name: t.console.home.openRequests,
      value: thousands(requests.open, t),
      note: requests.oldest_at
        ? t.console.home.oldestAge(
            t.length((now.getTime() - Date.parse(requests.oldest_at)) / 1000),
          )
        : '',
    },
    { name: t.console.home.ending, value: thousands(requests.ending, t) },
    {
      name: t.console.home.apps,
      value: apps.connected - apps.troubled,
      unit: t.console.home.of(apps.connected),
      note:
        apps.troubled > 0
          ? html`<span class="t bad">${t.console.home.appsTroubled(apps.troubled)}</span>`
          : t.console.home.allFine,
    },
    {
      name: t.console.home.connectors,
      value: connectors.serving,
      unit: t.console.home.of(connectors.all),
    },
    {
      name: t.console.home.hosts,
      value: hosts.live,
      unit: t.console.home.hostsOf(hosts.all),
      note: t.console.home.generation(hosts.generation),
    },
  ])

/** Outcomes of the calls in a step, in stacking order of the bars. */
const seriesOf = (t: PageLocale) =>
  [
    {
      look: 'busy',
      words: t.console.home.answered,
      of: ({ step }: Slot) => (step ? step.calls - failedOf(step) : 0),
    },
    {
      look: 'rule',
      words: t.console.home.byCaller,
      of: ({ step }: Slot) => step?.errors.caller ?? 0,
    },
    {
      look: 'wait',
      words: t.console.home.byProvider,
      of: ({ step }: Slot) => step?.errors.provider ?? 0,
    },
    {
      look: 'bad',
      words: t.console.home.byConnector,
      of: ({ step }: Slot) => step?.errors.connector ?? 0,
    },
    {
      look: '',
      words: t.console.home.byUs,
      of: ({ step }: Slot) => (step ? step.errors.operator + step.errors.runtime : 0),
    },
  ] as const

function calls(t: PageLocale, slots: readonly Slot[]): Markup {
  const w = t.console.home
  const series = seriesOf(t)
  const all = slots.reduce((sum, { step }) => sum + (step?.calls ?? 0), 0)
  if (all === 0)
    return card({ id: 'calls', title: w.calls }, empty('info', w.noCalls, w.noCallsText))
  const failed = slots.reduce((sum, { step }) => sum + (step ? failedOf(step) : 0), 0)
  const picture = {
    id: 'calls-picture',
    title: `${w.calls}, ${w.callsNote}`,
    text: w.callsText(thousands(all, t), thousands(failed, t)),
    marks: hourMarks(slots),
    steps: slots.length,
  }
  const columns: Column[] = [w.hour, ...series.map(({ words }): Column => ({ words, look: 'num' }))]
  const rows = slots
    .filter(({ step }) => step !== null)
    .map((slot) => [clockOf(slot.at), ...series.map(({ of }) => thousands(of(slot), t))])
  return card(
    { id: 'calls', title: w.calls, note: w.callsNote },
    html`<div class="in stack tight">
${barChart(
  picture,
  seriesOf(t).map(({ words, look, of }) => ({ name: words, look, values: slots.map(of) })),
)}
${key(series.map(({ look, words }) => ({ look, words })))}
<details class="more"><summary>${w.asTable}</summary>${table(w.calls, columns, rows, t)}</details></div>`,
  )
}

const turnsOf = (t: PageLocale, { turns }: Overview, now: Date): Markup =>
  listed(
    { id: 'turns', title: t.console.home.turns },
    [t.console.home.who, [t.console.home.tasks, 'num'], [t.console.home.oldest, 'num']],
    turns.map(({ name, tasks, oldest_at }) => [
      brief(name, 80),
      tasks,
      t.age(new Date(oldest_at), now),
    ]),
    { icon: 'check', title: t.console.home.noTurns, text: t.console.home.noTurnsText },
    t,
  )
