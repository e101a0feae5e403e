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
  const { items } = await visit.ask('list_settings')
  const rows = items.map((one) => [
    html`<code>${one.name}</code><span class="sub">${t.console.setting_meaning(one.name, one.meaning).replaceAll('`', '')}</span>`,
    shownValue(t, one),
    t.console.setting.sources[one.source],
  ])
  return answerPage(visit, {
    ...{ place: 'settings', isPlace: true },
    ...{ title: t.console.setting.title, lead: t.console.setting.lead },
    content: listed(
      { id: 'list', title: t.console.setting.title, count: items.length },
      [
        { words: t.console.setting.name },
        { words: t.console.setting.value },
        { words: t.console.setting.source, look: 'c3' },
      ],
      rows,
      {
        ...{ title: t.console.setting.nothing, text: '' },
      },
      t,
    ),
  })
}
