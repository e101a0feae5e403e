/** Connects apps: the list of connectors, and the handling of a connector's form. */
import { html } from 'hono/html'
import { listIntegrations } from '../../core/catalogue/apps/integrations.ts'
import type { Form } from '../frame/form.ts'
import { pageNumber, searchText } from '../pages/access.ts'
import { pagesNav } from '../pages/parts.ts'
import {
  CONNECT_PATH,
  changedIn,
  givenIn,
  knownApp,
  newApp,
  showForm,
  taking,
} from './connect-form.ts'
import { asksForTokens, connectWith, obtain } from './consent.ts'
import { answerPage, brief, filter, listed, nothingIn } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

const SIZE = 50

/** Shows the connectors that can be used. */
export async function showConnect(visit: ConsoleVisit): Promise<Response> {
  const { c, principal, context, t } = visit
  const w = t.console.connect
  const search = searchText(c.req.query('query'))
  const found = await listIntegrations(
    principal,
    { query: search, page: pageNumber(c.req.query('page')), size: SIZE },
    context,
  )
  const rows = found.items.map(({ app_class_id: id, name, description, category }) => [
    html`<a class="go" href="${CONNECT_PATH}/${encodeURIComponent(id)}" lang="en">${name}</a><span class="sub"><code>${id}</code></span>`,
    html`<span lang="en">${brief(description ?? '')}</span>`,
    html`<span lang="en">${category ?? ''}</span>`,
  ])
  const at = (page: number) =>
    `${CONNECT_PATH}?${new URLSearchParams({ ...(search && { query: search }), page: String(page) })}`
  return answerPage(visit, {
    place: 'apps',
    ...{ title: w.title, lead: w.lead },
    content: html`${filter(CONNECT_PATH, w.list, { name: 'query', words: w.find, value: search }, t)}
${listed(
  { id: 'list', title: w.list, count: found.total },
  [w.name, [w.about, 'c3'], [w.category, 'c2']],
  rows,
  nothingIn(w, search),
  t,
  pagesNav(t, found, w.list, at),
)}`,
  })
}

export const showConnectForm = async (visit: ConsoleVisit): Promise<Response> =>
  showForm(visit, newApp(visit, visit.c.req.param('app_class_id') ?? ''))

export const showReconnectForm = async (visit: ConsoleVisit): Promise<Response> =>
  showForm(visit, await knownApp(visit, visit.c.req.param('app_id') ?? ''))

/** Connects a new app, or shows the form again with the refusal. */
export async function takeConnect(visit: ConsoleVisit, form: Form): Promise<Response> {
  const asked = newApp(visit, visit.c.req.param('app_class_id') ?? '')
  return taking(visit, asked, form, async () =>
    asksForTokens(form)
      ? obtain(visit, asked, form)
      : connectWith(visit, asked, givenIn(visit.t, asked, form), form.get('name')?.trim() ?? ''),
  )
}

/** Reconnects an app with other credentials, other settings, or both. */
export async function takeReconnect(visit: ConsoleVisit, form: Form): Promise<Response> {
  const asked = await knownApp(visit, visit.c.req.param('app_id') ?? '')
  return taking(visit, asked, form, async () =>
    asksForTokens(form)
      ? obtain(visit, asked, form)
      : connectWith(visit, asked, changedIn(visit.t, asked, form), ''),
  )
}
