/** Data stored about the visitor, shown or as a file. Access to it is recorded, so it is a form. */
import { html } from 'hono/html'
import { exportOwn } from '../../core/personal-data/own-data.ts'
import { type Markup, proofField } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { note } from './parts.ts'
import { answerPortal } from './portal.ts'
import type { Visit } from './visit.ts'

/** Maximum number of rows of a table that are shown, and of characters of a row. */
const MAX_SHOWN = 20
const MAX_CHARACTERS = 2000

function tableOf(
  { w }: PageLocale,
  name: string,
  rows: readonly Record<string, unknown>[],
): Markup {
  const shown = rows.slice(0, MAX_SHOWN)
  return html`<details class="more card"><summary class="in"><code>${name}</code> (${rows.length})</summary>
<div class="in stack"><p class="small soft">${w.my_data_rows(shown.length, rows.length)}</p>
${shown.map((row) => html`<pre class="wrap small">${JSON.stringify(row, null, 1).slice(0, MAX_CHARACTERS)}</pre>`)}</div></details>`
}

/** Shows the page: for GET the explanation, for a sent form the data. */
export async function showMyData(visit: Visit): Promise<Response> {
  const { c, db, principal, t } = visit
  const { w } = t
  const data = c.req.method === 'POST' ? await exportOwn(db, principal) : null
  const send = (path: string, look: string, words: string) =>
    html`<form method="post" action="${path}">${proofField(visit.proof)}<button class="btn ${look}">${words}</button></form>`
  return answerPortal(visit, {
    ...{ title: w.my_data, lead: w.my_data_lead },
    content: html`<section class="card" aria-label="${w.my_data}"><div class="in stack">
<p>${w.my_data_text}</p>
${
  principal.readOnly
    ? note('', 'info', w.my_data_read_only)
    : html`<div class="row">${send('/settings/my-data/download', 'main', w.my_data_download)}${send('/settings/my-data', '', w.my_data_show)}</div>
<p class="small soft">${w.my_data_recorded}</p>`
}
</div></section>
${data === null ? '' : Object.entries(data.tables).map(([name, rows]) => tableOf(t, name, rows))}`,
  })
}

export async function downloadMyData({ c, db, principal }: Visit): Promise<Response> {
  const data = await exportOwn(db, principal)
  c.header('content-disposition', 'attachment; filename="keyway-my-data.json"')
  return c.json(data)
}
