/** Connects an app: the list of connectors, the form that a connector asks for, and what the system answered. */
import { html } from 'hono/html'
import { AppInputCreate, AppInputPut } from '../../contract/models/app.ts'
import { createApp, putApp } from '../../core/catalogue/apps/connect.ts'
import { findIntegration, listIntegrations } from '../../core/catalogue/apps/integrations.ts'
import { getAppConnection } from '../../core/catalogue/apps/kept-settings.ts'
import type { ServedConnector } from '../../core/kernel/context/connectors.ts'
import { PageError } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import { type Markup, proofField } from '../frame/layout.ts'
import type { Tongue } from '../frame/tongue.ts'
import { pageNumber, searchText } from '../pages/access.ts'
import { note } from '../pages/parts.ts'
import { connectionSchemaOf } from '../schemas/connection-schema.ts'
import { appPath } from './apps.ts'
import { refusal, type Status } from './change.ts'
import {
  asText,
  type ConnectField,
  connectionIn,
  type FieldGroup,
  groupsOf,
  isTouched,
  typedIn,
} from './connect-fields.ts'
import { connectField } from './connect-parts.ts'
import { filledIn } from './filled-in.ts'
import { brief, type Column, card, field, filter, listed, pagesNav, row, shell } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

export const CONNECT_PATH = '/console/connect'
const SIZE = 50

const columnsOf = ({ console: { connect } }: Tongue): Column[] => [
  { words: connect.name },
  { words: connect.about, look: 'c3' },
  { words: connect.category, look: 'c2' },
]

/** What can be connected. */
export async function showConnect(visit: ConsoleVisit): Promise<Response> {
  const { c, principal, context, t } = visit
  const w = t.console.connect
  const search = searchText(c.req.query('query'))
  const found = await listIntegrations(
    principal,
    { query: search, page: pageNumber(c.req.query('page')), size: SIZE },
    context,
  )
  const rows = found.items.map(({ app_class_id: id, name, description, category }) =>
    row(columnsOf(t), [
      html`<a class="go" href="${CONNECT_PATH}/${encodeURIComponent(id)}" lang="en">${name}</a><span class="sub"><code>${id}</code></span>`,
      html`<span lang="en">${brief(description ?? '')}</span>`,
      html`<span lang="en">${category ?? ''}</span>`,
    ]),
  )
  const at = (page: number) =>
    `${CONNECT_PATH}?${new URLSearchParams({ ...(search && { query: search }), page: String(page) })}`
  const nothing =
    search === ''
      ? { title: w.none, text: w.noneText }
      : { title: w.noneFound, text: w.noneFoundText, icon: 'search' as const }
  return c.html(
    shell({
      t,
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'apps' },
      ...{ title: w.title, lead: w.lead },
      content: html`${filter(CONNECT_PATH, w.list, { name: 'query', words: w.find, value: search }, t)}
${listed({ id: 'list', title: w.list, count: found.total }, columnsOf(t), rows, nothing, pagesNav(found, w.list, at, t), t)}`,
    }),
  )
}

/** A form, and what is in it. */
type Asked = {
  connector: ServedConnector
  groups: readonly FieldGroup[]
  /** What is kept of the app that is connected again; null for a new one. */
  kept: Awaited<ReturnType<typeof getAppConnection>> | null
}

/** What a form holds before anything is typed, by the names of its fields. */
function heldIn({ groups, kept }: Asked): Form {
  const fields = groups.flatMap((group) => group.fields.map((one) => ({ group, one })))
  return new Map(
    fields.map(({ group, one }): [string, string] => {
      if (kept === null || one.isSecret) return [one.name, one.given]
      // Of a credential nothing is filled in: where all of it stays empty, the kept one is kept.
      if (group.part === 'auth') return [one.name, '']
      const value = kept.settings[one.member] ?? (kept.app.disconnected ? one.given : undefined)
      return [one.name, one.kind === 'check' && value !== true ? '' : asText(value)]
    }),
  )
}

/** The connector of a new app. @throws CoreError 404 */
function newApp({ c, principal, context }: ConsoleVisit): Asked {
  const connector = findIntegration(principal, c.req.param('app_class_id') ?? '', context)
  return { connector, groups: groupsOf(connectionSchemaOf(connector.manifest)), kept: null }
}

/** The app that is connected again. @throws CoreError 403, 404, 409 */
async function knownApp({ c, db, principal, context }: ConsoleVisit): Promise<Asked> {
  const kept = await getAppConnection(db, principal, c.req.param('app_id') ?? '', context)
  const connector = findIntegration(principal, kept.app_class_id, context)
  return { connector, groups: groupsOf(connectionSchemaOf(connector.manifest)), kept }
}

export const showConnectForm = async (visit: ConsoleVisit): Promise<Response> =>
  show(visit, newApp(visit))

export const showReconnectForm = async (visit: ConsoleVisit): Promise<Response> =>
  show(visit, await knownApp(visit))

/** Connects a new app, or says on the same page what the system said. */
export async function takeConnect(visit: ConsoleVisit, form: Form): Promise<Response> {
  const asked = newApp(visit)
  return taking(visit, asked, form, async () => {
    const { db, principal, context, t } = visit
    const { groups, connector } = asked
    const name = form.get('name')?.trim() ?? ''
    // What has to be there is asked for by name where it is empty.
    const isAsked = (group: FieldGroup) => !group.isOptional || isTouched(group, form)
    const given = connectionIn(groups, form, isAsked, (one) => noJson(t, one))
    const body = filledIn(AppInputCreate, {
      ...{ app_class_id: connector.id, ...given },
      ...(name === '' ? {} : { name }),
    })
    const { id } = await createApp(db, principal, body, context)
    visit.say('app-connected')
    return visit.c.redirect(appPath(id), 303)
  })
}

/** Connects an app again: with other credentials, with other settings, or both. */
export async function takeReconnect(visit: ConsoleVisit, form: Form): Promise<Response> {
  const asked = await knownApp(visit)
  return taking(visit, asked, form, async () => {
    const { db, principal, context, t } = visit
    const { app_id: id = '' } = visit.c.req.param()
    const body = filledIn(AppInputPut, {
      app_class_id: asked.connector.id,
      ...changedIn(t, asked, form),
    })
    await putApp(db, principal, id, body, context)
    visit.say('app-reconnected')
    return visit.c.redirect(appPath(id), 303)
  })
}

/**
 * What of a connection was changed on the page. Settings are sent whole: where one changes, the secret ones that are kept
 * are asked for again, since they would go to what the others name.
 *
 * @throws CoreError 422 where nothing was
 */
function changedIn(t: Tongue, asked: Asked, form: Form) {
  const w = t.console.connect
  const { groups, kept } = asked
  const held = heldIn(asked)
  const isChanged = ({ fields }: FieldGroup): boolean =>
    fields.some((one) => typedIn(form, one) !== (held.get(one.name) ?? ''))
  if (!groups.some(isChanged)) throw new PageError(422, w.nothing)
  const settings = groups.find(({ part }) => part === 'settings')
  if (settings && isChanged(settings)) {
    const missing = settings.fields.filter(
      (one) => kept?.secret_settings.includes(one.member) && typedIn(form, one) === '',
    )
    if (missing.length > 0)
      throw new PageError(422, w.secretAgain(missing.map(({ title }) => title).join(', ')))
  }
  return connectionIn(groups, form, isChanged, (one) => noJson(t, one))
}

const noJson = ({ console: { connect } }: Tongue, { title }: ConnectField): PageError =>
  new PageError(422, connect.noJson(connect.fields[title] ?? title))

async function taking(
  visit: ConsoleVisit,
  asked: Asked,
  form: Form,
  work: () => Promise<Response>,
): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    const { words, status } = refusal(error)
    return show(visit, asked, { form, problem: words, status })
  }
}

async function show(
  visit: ConsoleVisit,
  asked: Asked,
  { form, problem, status = 200 }: { form?: Form; problem?: Markup; status?: Status } = {},
): Promise<Response> {
  const { c, t } = visit
  const w = t.console.connect
  const { connector, groups, kept } = asked
  const visitor = await visit.visitor()
  const typed = form ?? heldIn(asked)
  const { name = connector.id, capabilities } = connector.manifest
  const isChecked = Object.hasOwn(capabilities, 'validate_credentials')
  const credentials = groups.filter(({ part }) => part === 'auth')
  const titled = (group: FieldGroup, at: number): string =>
    group.part === 'settings' ? w.settings : at === 0 ? w.credentials : w.otherCredentials
  const content = html`${problem === undefined ? '' : note('bad', 'alert', w.notConnected, html`${problem} ${w.notKept}`, 'alert')}
<form class="stack" method="post" action="${c.req.path}">
${proofField(visitor.proof)}
${groups.map((group, at) =>
  card(
    {
      id: group.id === '' ? group.part : `${group.part}-${group.id}`,
      title: titled(group, at),
      note:
        group.title === '' && group.id === ''
          ? ''
          : html`<span lang="en">${group.title || group.id}</span>`,
    },
    html`<div class="in stack">
${group.help === '' ? '' : html`<p class="small" lang="en">${group.help}</p>`}
${at === 0 && credentials.length > 1 ? html`<p class="small">${w.oneOf}</p>` : ''}
${group.fields.map((one) =>
  connectField(t, one, {
    value: one.isSecret ? '' : typedIn(typed, one),
    isRequired: one.isRequired && !group.isOptional && !(kept !== null && isLeft(group, one, kept)),
    isKept: kept?.secret_settings.includes(one.member) === true && group.part === 'settings',
  }),
)}</div>`,
  ),
)}
${
  kept === null
    ? card(
        { id: 'own', title: w.facts },
        html`<div class="in stack">${field({ t, id: 'name', label: w.ownName, help: w.ownNameHelp(name), value: typed.get('name') ?? '', most: 255 })}</div>`,
      )
    : ''
}
<p class="small">${isChecked ? w.checked : w.unchecked}</p>
<div class="row"><button class="btn main">${w.button}</button><a class="btn plain" href="${kept === null ? CONNECT_PATH : appPath(kept.app.id)}">${w.cancel}</a></div>
</form>`
  return c.html(
    shell({
      t,
      ...{ visitor, flash: visit.flash(), place: 'apps', content },
      ...(kept === null
        ? {
            title: w.formTitle(name),
            lead: w.formLead,
            crumbs: [{ path: CONNECT_PATH, words: w.title }],
          }
        : {
            title: w.again(kept.app.user_friendly_label),
            lead: kept.app.disconnected ? w.formLead : w.againLead,
            crumbs: [{ path: appPath(kept.app.id), words: kept.app.user_friendly_label }],
          }),
    }),
    status,
  )
}

/** Whether a field may be left empty because what it holds is kept. */
const isLeft = (
  { part }: FieldGroup,
  { member }: ConnectField,
  { app, secret_settings }: NonNullable<Asked['kept']>,
): boolean => !app.disconnected && (part === 'auth' || secret_settings.includes(member))
