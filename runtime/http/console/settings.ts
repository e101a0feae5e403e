/** The settings of this host: what is in force, where it comes from, and what it means. */
import { html } from 'hono/html'
import type { SettingInForce } from '../../contract/endpoints/settings.ts'
import { badge } from '../pages/states.ts'
import { brief, type Column, listed, row, shell } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'
import { SETTING_WORDS as WORDS } from './words/background.ts'

const COLUMNS: Column[] = [
  { words: WORDS.name },
  { words: WORDS.value },
  { words: WORDS.source, look: 'c3' },
]

const shownValue = ({ secret, set, value }: SettingInForce) => {
  if (secret) return set ? badge('good', 'key', WORDS.set) : badge('', 'minus', WORDS.notSet)
  return set
    ? html`<code class="wrap">${brief(value ?? '', 500)}</code>`
    : html`<span class="soft">${WORDS.nothing}</span>`
}

export async function showSettings(visit: ConsoleVisit): Promise<Response> {
  const { items } = await visit.ask('list_settings')
  const rows = items.map((one) =>
    row(COLUMNS, [
      html`<code>${one.name}</code><span class="sub">${one.meaning.replaceAll('`', '')}</span>`,
      shownValue(one),
      WORDS.sources[one.source],
    ]),
  )
  return visit.c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'settings', isPlace: true },
      ...{ title: WORDS.title, lead: WORDS.lead },
      content: listed({ id: 'list', title: WORDS.title, count: items.length }, COLUMNS, rows, {
        ...{ title: WORDS.nothing, text: '' },
      }),
    }),
  )
}
