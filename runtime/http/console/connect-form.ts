/** The form that connects an app: its initial values, its input, and its page. */
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
import type { PageLocale } from '../frame/locale.ts'
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

/** Address to which authorization servers send a browser back. */
export const CALLBACK_PATH = '/console/consent/callback'

/** Name of the buttons that obtain tokens, and their value for a single credential. */
export const OBTAIN = 'obtain'
export const ONLY = '.'

/** Data of the form. */
export type ConnectAsk = {
  connector: ServedConnector
  groups: readonly FieldGroup[]
  /** Stored connection of the app that is reconnected; null for a new app. */
  kept: Awaited<ReturnType<typeof getAppConnection>> | null
}

/** Returns the initial values by field name. */
function heldIn({ groups, kept }: ConnectAsk): Form {
  const fields = groups.flatMap((group) => group.fields.map((one) => ({ group, one })))
  return new Map(
    fields.map(({ group, one }): [string, string] => {
      if (kept === null || one.isSecret) return [one.name, one.given]
      // Credentials are not filled in. If all fields of one stay empty, the stored one is kept.
      if (group.part === 'auth') return [one.name, '']
      const value = kept.settings[one.member] ?? (kept.app.disconnected ? one.given : undefined)
      return [one.name, one.kind === 'check' && value !== true ? '' : asText(value)]
    }),
  )
}

/** Returns the form for a new app. @throws CoreError `not_found` */
export function newApp({ principal, context }: ConsoleVisit, classId: string): ConnectAsk {
  const connector = findIntegration(principal, classId, context)
  return { connector, groups: fieldGroupsOf(connectionSchemaOf(connector.manifest)), kept: null }
}

/** Returns the form that reconnects an app. @throws CoreError `forbidden`, `not_found`, `conflict` */
export async function knownApp(
  { db, principal, context }: ConsoleVisit,
  appId: string,
): Promise<ConnectAsk> {
  const kept = await getAppConnection(db, principal, appId, context)
  const connector = findIntegration(principal, kept.app_class_id, context)
  return { connector, groups: fieldGroupsOf(connectionSchemaOf(connector.manifest)), kept }
}

/** Returns the address of the form's page. */
const pathOf = ({ kept, connector }: ConnectAsk): string =>
  kept === null
    ? `${CONNECT_PATH}/${encodeURIComponent(connector.id)}`
    : `${appPath(kept.app.id)}/connection`

/** Reports whether any field of a group has changed. */
const isChanged = (held: Form, form: Form, { fields }: FieldGroup): boolean =>
  fields.some((one) => typedIn(form, one) !== (held.get(one.name) ?? ''))

/** Returns the input for a new app. Required fields that are empty are reported by name. */
export function givenIn(t: PageLocale, asked: ConnectAsk, form: Form): Filled {
  const isAsked = (group: FieldGroup) => !group.isOptional || isTouched(group, form)
  const filled = connectionIn(asked.groups, form, isAsked, (one) => noJson(t, one))
  judgeFilled(t, asked, filled)
  return filled
}

/** Returns the changed parts of a connection. @throws CoreError `invalid` if nothing has changed */
export function changedIn(t: PageLocale, asked: ConnectAsk, form: Form): Filled {
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
 * Returns the settings of a new app, or the changed settings. They are sent as a whole. If one changes, the
 * stored secret settings must be entered again, because they would be sent to the new address.
 *
 * @returns undefined if the stored settings stay
 * @throws CoreError `invalid`
 */
export function settingsIn(
  t: PageLocale,
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

const noJson = (t: PageLocale, { title }: ConnectField): PageError =>
  new PageError('invalid', t.console.connect.noJson(titleIn(t, title)))

/** Performs the work of a form, or shows the form again with the refusal. */
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

/** Links to the documentation of a built-in connector about its settings and required rights. */
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

/**
 * Renders the buttons. The usual one comes first, because Enter activates it: consent if no other credential
 * exists.
 */
function buttons(
  { console: { connect: w } }: PageLocale,
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

/** Reports whether a field may be left empty because its stored value is kept. */
const isLeft = (
  { part }: FieldGroup,
  { member }: ConnectField,
  { app, secret_settings }: NonNullable<ConnectAsk['kept']>,
): boolean => !app.disconnected && (part === 'auth' || secret_settings.includes(member))
