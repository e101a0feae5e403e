/** The form that connects an app: what it holds, what was filled in, and the page that shows it. */
import { html } from 'hono/html'
import type { OAuthFlow } from '../../contract/connector/oauth.ts'
import { obtainable } from '../../core/catalogue/apps/consent.ts'
import { findIntegration } from '../../core/catalogue/apps/integrations.ts'
import { getAppConnection } from '../../core/catalogue/apps/kept-settings.ts'
import type { ServedConnector } from '../../core/kernel/context/connectors.ts'
import { DOCS_PAGES } from '../docs/pages.ts'
import { hostOrigin } from '../frame/cookies.ts'
import { PageError } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import { type Markup, proofField } from '../frame/layout.ts'
import type { Tongue } from '../frame/tongue.ts'
import { note } from '../pages/parts.ts'
import { connectionSchemaOf } from '../schemas/connection-schema.ts'
import { appPath } from './apps.ts'
import { refusal, type Status } from './change.ts'
import {
  asText,
  type ConnectField,
  connectionIn,
  type FieldGroup,
  type Filled,
  fieldGroupsOf,
  isTouched,
  typedIn,
} from './connect-fields.ts'
import { judgeFilled, titleIn } from './connect-judge.ts'
import { groupCard } from './connect-parts.ts'
import { answerPage, card, field } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

export const CONNECT_PATH = '/console/connect'

/** Where authorization servers send a browser back to. */
export const CALLBACK_PATH = '/console/consent/callback'

/** The name of the buttons that get tokens, and of what the only credential is called there. */
export const OBTAIN = 'obtain'
export const ONLY = '.'

/** A form, and what is in it. */
export type ConnectAsk = {
  connector: ServedConnector
  groups: readonly FieldGroup[]
  /** What is kept of the app that is connected again; null for a new one. */
  kept: Awaited<ReturnType<typeof getAppConnection>> | null
}

/** What a form holds before anything is typed, by the names of its fields. */
function heldIn({ groups, kept }: ConnectAsk): Form {
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

/** The connector of a new app. @throws CoreError not_found */
export function newApp({ principal, context }: ConsoleVisit, classId: string): ConnectAsk {
  const connector = findIntegration(principal, classId, context)
  return { connector, groups: fieldGroupsOf(connectionSchemaOf(connector.manifest)), kept: null }
}

/** The app that is connected again. @throws CoreError forbidden, not_found, conflict */
export async function knownApp(
  { db, principal, context }: ConsoleVisit,
  appId: string,
): Promise<ConnectAsk> {
  const kept = await getAppConnection(db, principal, appId, context)
  const connector = findIntegration(principal, kept.app_class_id, context)
  return { connector, groups: fieldGroupsOf(connectionSchemaOf(connector.manifest)), kept }
}

/** The page of the form. */
const pathOf = ({ kept, connector }: ConnectAsk): string =>
  kept === null
    ? `${CONNECT_PATH}/${encodeURIComponent(connector.id)}`
    : `${appPath(kept.app.id)}/connection`

/** Whether something of a part is another than it was. */
const isChanged = (held: Form, form: Form, { fields }: FieldGroup): boolean =>
  fields.some((one) => typedIn(form, one) !== (held.get(one.name) ?? ''))

/** What connects a new app: what has to be there is asked for by name where it is empty. */
export function givenIn(t: Tongue, asked: ConnectAsk, form: Form): Filled {
  const isAsked = (group: FieldGroup) => !group.isOptional || isTouched(group, form)
  const filled = connectionIn(asked.groups, form, isAsked, (one) => noJson(t, one))
  judgeFilled(t, asked, filled)
  return filled
}

/** What of a connection was changed on the page. @throws CoreError invalid where nothing was */
export function changedIn(t: Tongue, asked: ConnectAsk, form: Form): Filled {
  const held = heldIn(asked)
  const isOther = (group: FieldGroup) => isChanged(held, form, group)
  if (!asked.groups.some(isOther)) throw new PageError('invalid', t.console.connect.nothing)
  const settings = settingsIn(t, asked, form)
  const credentials = asked.groups.filter(({ part }) => part === 'auth')
  const auth = connectionIn(credentials, form, isOther, (one) => noJson(t, one))
  judgeFilled(t, asked, auth)
  return { ...auth, ...(settings === undefined ? {} : { settings }) }
}

/**
 * The settings of a new app, or those that were changed. They are sent whole: where one changes, the secret ones that are
 * kept are asked for again, since they would go to what the others name.
 *
 * @returns undefined where those that are kept stay
 * @throws CoreError invalid
 */
export function settingsIn(
  t: Tongue,
  asked: ConnectAsk,
  form: Form,
): Record<string, unknown> | undefined {
  const w = t.console.connect
  const { groups, kept } = asked
  const settings = groups.filter(({ part }) => part === 'settings')
  const held = heldIn(asked)
  if (kept !== null && !settings.some((one) => isChanged(held, form, one))) return undefined
  const missing = settings
    .flatMap(({ fields }) => fields)
    .filter((one) => kept?.secret_settings.includes(one.member) && typedIn(form, one) === '')
  if (missing.length > 0)
    throw new PageError(
      'invalid',
      w.secretAgain(missing.map(({ title }) => titleIn(t, title)).join(', ')),
    )
  const filled = connectionIn(
    settings,
    form,
    () => true,
    (one) => noJson(t, one),
  )
  judgeFilled(t, asked, filled)
  return filled.settings
}

const noJson = (t: Tongue, { title }: ConnectField): PageError =>
  new PageError('invalid', t.console.connect.noJson(titleIn(t, title)))

/** Does what a form asks for, or shows the form again with what the system said. */
export async function taking(
  visit: ConsoleVisit,
  asked: ConnectAsk,
  form: Form,
  work: () => Promise<Response>,
): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    return showForm(visit, asked, { form, ...refusal(visit.t, error) })
  }
}

/** The way to what a built-in connector says about its settings and the rights that it needs. */
const docsLink = (id: string, words: string): Markup | string =>
  DOCS_PAGES.some(({ slug }) => slug === `connectors/${id}`)
    ? html`<p><a href="/docs/connectors/${id}">${words}</a></p>`
    : ''

export async function showForm(
  visit: ConsoleVisit,
  asked: ConnectAsk,
  { form, problem, status = 200 }: { form?: Form; problem?: Markup; status?: Status } = {},
): Promise<Response> {
  const { c, t } = visit
  const w = t.console.connect
  const { connector, groups, kept } = asked
  const typed = form ?? heldIn(asked)
  const { name = connector.id, capabilities } = connector.manifest
  const isChecked = Object.hasOwn(capabilities, 'validate_credentials')
  const ways = obtainable(connector.manifest)
  const credentials = groups.filter(({ part }) => part === 'auth')
  const content = html`${problem === undefined ? '' : note('bad', 'alert', w.notConnected, html`${problem} ${w.notKept}`, 'alert')}
${docsLink(connector.id, w.docs)}
<form class="stack" method="post" action="${pathOf(asked)}">
${proofField(visit.proof)}
${groups.map((group, at) => {
  const flows = group.part === 'auth' ? ways.get(group.id) : undefined
  return groupCard(t, group, {
    title: group.part === 'settings' ? w.settings : at === 0 ? w.credentials : w.otherCredentials,
    lead: at === 0 && credentials.length > 1 ? w.oneOf : '',
    flows,
    redirectUri: `${hostOrigin(c)}${CALLBACK_PATH}`,
    shown: (one) => ({
      value: one.isSecret ? '' : typedIn(typed, one),
      isRequired:
        flows === undefined &&
        one.isRequired &&
        !group.isOptional &&
        !(kept !== null && isLeft(group, one, kept)),
      isKept: kept?.secret_settings.includes(one.member) === true && group.part === 'settings',
    }),
  })
})}
${
  kept === null
    ? card(
        { id: 'own', title: w.facts },
        html`<div class="in stack">${field({ t, id: 'name', label: w.ownName, help: w.ownNameHelp(name), value: typed.get('name') ?? '', most: 255 })}</div>`,
      )
    : ''
}
<p class="small">${isChecked ? w.checked : w.unchecked}</p>
<div class="row">${buttons(t, ways, credentials)}<a class="btn plain" href="${kept === null ? CONNECT_PATH : appPath(kept.app.id)}">${w.cancel}</a></div>
</form>`
  return answerPage(visit, {
    ...{ place: 'apps', content },
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
    status,
  })
}

/** What is the usual way stands first, since the key Enter presses it: consent where nothing else gives credentials. */
function buttons(
  { console: { connect: w } }: Tongue,
  ways: ReadonlyMap<string, readonly OAuthFlow[]>,
  credentials: readonly FieldGroup[],
): Markup {
  const isOnly = credentials.every(({ id }) => ways.has(id)) && ways.size === 1
  const obtain = credentials.map(({ id, title }) => {
    const flows = ways.get(id)
    if (flows === undefined) return ''
    const words = flows.includes('CODE_FLOW') ? w.getConsent : w.getToken
    return html`<button class="btn${isOnly ? ' main' : ''}" name="${OBTAIN}" value="${id || ONLY}" formnovalidate>${words}${isOnly ? '' : html` <span lang="en">(${title || id})</span>`}</button>`
  })
  const connect = html`<button class="btn${isOnly ? '' : ' main'}">${w.button}</button>`
  return isOnly ? html`${obtain}${connect}` : html`${connect}${obtain}`
}

/** Whether a field may be left empty because what it holds is kept. */
const isLeft = (
  { part }: FieldGroup,
  { member }: ConnectField,
  { app, secret_settings }: NonNullable<ConnectAsk['kept']>,
): boolean => !app.disconnected && (part === 'auth' || secret_settings.includes(member))
