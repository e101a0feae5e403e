/** The settings of this host: their values, sources and meaning. */
import { html } from 'hono/html'
import type { SettingInForce } from '../../contract/endpoints/settings.ts'
import type { PageLocale } from '../frame/locale.ts'
import { badge } from '../pages/states.ts'
import { answerPage, brief, listed } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

const shownValue = (t: PageLocale, { secret, set, value }: SettingInForce) => {
  const w = t.console.setting
  if (secret) return set ? badge(['good', 'key'], w.set) : badge(['', 'minus'], w.notSet)
  return set
    ? html`<code class="wrap">${brief(value ?? '', 500)}</code>`
    : html`<span class="soft">${w.nothing}</span>`
}

export async function showSettings(visit: ConsoleVisit): Promise<Response> {
  const { t } = visit
  const w = t.console.setting
  const { items } = await visit.ask('list_settings')
  const rows = items.map((one) => [
    html`<code>${one.name}</code><span class="sub">${t.console.setting_meaning(one.name, one.meaning).replaceAll('`', '')}</span>`,
    shownValue(t, one),
    w.sources[one.source],
  ])
  return answerPage(visit, {
    ...{ place: 'settings', isPlace: true },
    ...{ title: w.title, lead: w.lead },
    content: listed(
      { id: 'list', title: w.title, count: items.length },
      [w.name, w.value, [w.source, 'c3']],
      rows,
      {
        ...{ title: w.nothing, text: '' },
      },
      t,
    ),
  })
}
