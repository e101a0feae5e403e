/** The activity log, newest entries first, with the state of its chain. */

import { html } from 'hono/html'
import { ACTIVITY_EVENTS } from '../../contract/models/activity-event.ts'
import { keysOf } from '../../contract/schema/keys.ts'
import { listActivity } from '../../core/kernel/audit/activity.ts'
import { verifyNewest } from '../../core/kernel/audit/chain.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { parseMoment } from '../frame/words.ts'
import { pageNumber, searchText } from '../pages/access.ts'
import { note, pagesNav, whole } from '../pages/parts.ts'
import { badge } from '../pages/states.ts'
import { answerPage, brief, listed, sortOf, thousands } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

const SIZE = 50

/** Parses the day of a date field as its first or last moment; null if it is invalid. */
function dayOf(text: string | undefined, atEnd: boolean): Date | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(text ?? '')) return null
  const at = new Date(`${text}T${atEnd ? '23:59:59.999' : '00:00:00.000'}Z`)
  return Number.isNaN(at.getTime()) ? null : at
}

export async function showLog(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal, now, t } = visit
  const w = t.console.log
  const asked = {
    event: searchText(c.req.query('event_type')).toUpperCase().replaceAll(' ', '_'),
    since: c.req.query('since') ?? '',
    until: c.req.query('until') ?? '',
    actor: searchText(c.req.query('actor')),
    target: searchText(c.req.query('target')),
  }
  const page = pageNumber(c.req.query('page'))
  const sort = c.req.query('sort') === 'began' ? 'began' : '-began'
  const found = await listActivity(db, principal, {
    since: dayOf(asked.since, false),
    until: dayOf(asked.until, true),
    event_type: asked.event === '' ? null : asked.event,
    actor: asked.actor === '' ? null : asked.actor,
    target: asked.target === '' ? null : asked.target,
    newest_first: sort === '-began',
    ...{ limit: SIZE, offset: (page - 1) * SIZE },
  })
  const chain = await verifyNewest(db, principal.domainId)
  const rows = found.items.map((one) => {
    const who = [text(one.actor, 'given_name'), text(one.actor, 'family_name')].join(' ').trim()
    const targets = one.targets.map((target) => text(target, 'name')).filter(Boolean)
    const failed = one.outcome === 'Failed' ? badge(['bad', 'x'], w.failed) : ''
    const by = brief(who || text(one.actor, 'email') || w.keyway, 120)
    const to = brief(targets.join(', '), 200)
    return [
      html`${t.console.event_named(one.event_type, one.event_type_user_friendly)} ${failed}<span class="sub">${t.moment(parseMoment(one.event_began_at), now)} · <code>${one.event_type}</code></span><span class="sub narrow-only">${whole(by)}</span><span class="sub narrow-only">${whole(to)}</span>`,
      whole(by),
      whole(to),
      details(t, one.event_metadata, one.event_hash),
    ]
  })
  const query = new URLSearchParams(
    Object.entries({
      ...{ event_type: asked.event, actor: asked.actor, target: asked.target },
      ...{ since: asked.since, until: asked.until },
    }).filter(([, value]) => value !== ''),
  )
  const at = (to: number) =>
    `/console/log?${new URLSearchParams([...query, ['sort', sort], ['page', String(to)]])}`
  const by = sortOf(
    'began',
    sort,
    (to) => `/console/log?${new URLSearchParams([...query, ['sort', to]])}`,
    'descending',
  )
  const pages = Math.ceil(found.total / SIZE)
  const isAsked = query.size > 0
  const nothing = isAsked
    ? {
        title: w.noneFound,
        text: html`${w.noneFoundText} <a href="/console/log">${w.showAll}</a>.`,
        icon: 'search' as const,
      }
    : { title: w.none, text: w.noneText }
  return answerPage(visit, {
    ...{ place: 'log', isPlace: true },
    title: chain.broken ? w.brokenTitle : w.title,
    lead: w.lead(thousands(found.total, t)),
    content: html`${
      chain.broken
        ? note(
            'bad',
            'alert',
            w.broken,
            w.brokenText(chain.broken.event_type, chain.broken.event_began_at),
            'alert',
          )
        : note(
            'good',
            'shield',
            w.whole(chain.checked),
            w.wholeText(chain.head.slice(0, 16), chain.waiting),
          )
    }
${asking(t, asked, sort, isAsked)}
${listed(
  { id: 'list', title: w.list, count: found.total },
  [{ words: w.event, sort: by }, [w.who, 'c3'], [w.target, 'c3'], w.details],
  rows,
  nothing,
  t,
  pagesNav(t, { page, pages, total: found.total }, w.list, at),
)}`,
  })
}

/** Suggestions for the filter by event. */
const EVENT_TYPES: Markup = html`<datalist id="event_types">${keysOf(ACTIVITY_EVENTS).map((type) => html`<option value="${type}"></option>`)}</datalist>`

const asking = (
  t: PageLocale,
  {
    event,
    since,
    until,
    actor,
    target,
  }: Record<'event' | 'since' | 'until' | 'actor' | 'target', string>,
  sort: string,
  isAsked: boolean,
): Markup => html`<form class="filter" action="/console/log" role="search" aria-label="${t.console.log.list}">
<input type="hidden" name="sort" value="${sort}">
<div class="grow"><label for="event_type">${t.console.log.event}</label><input id="event_type" name="event_type" type="search" value="${event}" maxlength="100" placeholder="APP_CREATED" list="event_types">${EVENT_TYPES}</div>
<div class="grow"><label for="actor">${t.console.log.actorFilter}</label><input id="actor" name="actor" type="search" value="${actor}" maxlength="200" placeholder="${t.console.log.actorHelp}"></div>
<div class="grow"><label for="target">${t.console.log.targetFilter}</label><input id="target" name="target" type="search" value="${target}" maxlength="200" placeholder="${t.console.log.actorHelp}"></div>
<div><label for="since">${t.console.log.since}</label><input id="since" name="since" type="date" value="${since}"></div>
<div><label for="until">${t.console.log.until}</label><input id="until" name="until" type="date" value="${until}"></div>
<button class="btn">${t.console.log.search}</button>${isAsked ? html`<a class="btn plain" href="/console/log">${t.console.log.clear}</a>` : ''}
</form>`

const text = (record: Record<string, unknown>, name: string): string =>
  typeof record[name] === 'string' ? record[name] : ''

const details = (t: PageLocale, metadata: Record<string, unknown>, hash: string): Markup =>
  html`<details class="more"><summary>${t.console.log.details}</summary><pre class="wrap small">${brief(JSON.stringify(metadata, null, 1), 2000)}</pre><code class="small wrap">${hash.slice(0, 32)}…</code></details>`
