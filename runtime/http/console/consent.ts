/**
 * OAuth consent for an app that is being connected: the way to the authorization server, and back. Until then
 * the input is sealed in a cookie, for one use and ten minutes. No address contains any of it.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { html } from 'hono/html'
import { AppInputCreate, AppInputPut } from '../../contract/models/app.ts'
import { createApp, putApp } from '../../core/catalogue/apps/connect.ts'
import {
  consentedAuth,
  type OAuthClient,
  obtainTokens,
  type TokenPurpose,
} from '../../core/catalogue/apps/consent.ts'
import { requirePermission } from '../../core/kernel/identity/principal.ts'
import {
  CONSENT_SECONDS,
  consentOf,
  dropConsent,
  hostOrigin,
  keepConsent,
} from '../frame/cookies.ts'
import { PageError } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import { appPath } from './apps.ts'
import { typedIn } from './connect-fields.ts'
import {
  CALLBACK_PATH,
  CONNECT_PATH,
  type ConnectAsk,
  knownApp,
  newApp,
  OBTAIN,
  ONLY,
  settingsIn,
  taking,
} from './connect-form.ts'
import { filledIn } from './filled-in.ts'
import { answerPage, brief, card, facts, go } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

export const CONSENT_PATH = '/console/consent'

/** State that the browser keeps while a person gives consent. */
type Kept = {
  userId: string
  atMs: number
  classId: string
  appId: string | null
  credential: string
  client: OAuthClient
  settings?: Record<string, unknown>
  name: string
  /** Input of the form, without secrets. */
  typed: [string, string][]
  state: string
  verifier: string | null
  url: string
}

const BOUND = Buffer.from('consent')

const sealed = ({ context }: ConsoleVisit, kept: Kept): string =>
  context.vault
    .seal(deflateRawSync(JSON.stringify(kept)).toString('base64'), BOUND)
    .toString('base64url')

/** Returns the state, or null if it was not sealed here, is too old, or belongs to another person. */
function opened({ c, context, principal }: ConsoleVisit): Kept | null {
  const text = consentOf(c)
  if (text === null) return null
  try {
    // Only this host's secrets can have sealed it.
    const packed = context.vault.open(Buffer.from(text, 'base64url'), BOUND)
    const kept: Kept = JSON.parse(inflateRawSync(Buffer.from(packed, 'base64')).toString())
    const isYoung = Date.now() - kept.atMs < CONSENT_SECONDS * 1000
    return isYoung && kept.userId === principal.userId ? kept : null
  } catch {
    return null
  }
}

/** Connects the app with the given input, or with the obtained tokens. */
export async function connectWith(
  { db, principal, context, done }: ConsoleVisit,
  { kept, connector }: ConnectAsk,
  given: { auth?: Record<string, unknown>; settings?: Record<string, unknown> },
  name: string,
): Promise<Response> {
  const body = { app_class_id: connector.id, ...given }
  if (kept === null) {
    requirePermission(principal, 'apps.write')
    const input = filledIn(AppInputCreate, { ...body, ...(name === '' ? {} : { name }) })
    const { id } = await createApp(db, principal, input, context)
    return done('app-connected', appPath(id))
  }
  await putApp(db, principal, kept.app.id, filledIn(AppInputPut, body), context)
  return done('app-reconnected', appPath(kept.app.id))
}

/** Reports whether a form asks Keyway to obtain tokens. */
export const asksForTokens = (form: Form): boolean => form.has(OBTAIN)

/**
 * Starts to obtain tokens. It redirects to the page before consent, or connects at once with tokens that the
 * client obtained for itself.
 */
export async function obtain(
  visit: ConsoleVisit,
  asked: ConnectAsk,
  form: Form,
): Promise<Response> {
  const { c, db, principal, context, t } = visit
  const { connector, groups, kept } = asked
  const given = form.get(OBTAIN) ?? ''
  const credential = given === ONLY ? '' : given
  const group = groups.find(({ id, part }) => part === 'auth' && id === credential)
  const typed = (member: string): string => {
    const one = group?.fields.find((field) => field.member === member)
    return one === undefined ? '' : typedIn(form, one)
  }
  const [client_id, client_secret] = [typed('client_id'), typed('client_secret')]
  if (client_id === '' || client_secret === '')
    throw new PageError('invalid', t.console.connect.clientMissing)
  const scopes = typed('scopes')
    .split(/[\s,]+/)
    .filter((one) => one !== '')
  const client = { client_id, client_secret, scopes }
  const settings = settingsIn(t, asked, form)
  const purpose: TokenPurpose = {
    ...{ connector, credential, client, settings },
    appId: kept?.app.id ?? null,
  }
  const name = form.get('name')?.trim() ?? ''
  const redirectUri = `${hostOrigin(c)}${CALLBACK_PATH}`
  const begun = await obtainTokens(db, principal, purpose, redirectUri, context)
  if ('auth' in begun) {
    const more = settings === undefined ? {} : { settings }
    return connectWith(visit, asked, { auth: begun.auth, ...more }, name)
  }
  const text = sealed(visit, {
    ...{ userId: principal.userId, atMs: Date.now(), ...begun },
    ...{ classId: connector.id, appId: purpose.appId, credential, client, name },
    ...(settings === undefined ? {} : { settings }),
    typed: [
      ['name', name],
      ...groups
        .flatMap(({ fields }) => fields)
        .filter(({ isSecret }) => !isSecret)
        .map((one): [string, string] => [one.name, typedIn(form, one)]),
    ],
  })
  if (!keepConsent(c, text)) throw new PageError('invalid', t.console.connect.tooLong)
  return c.redirect(CONSENT_PATH, 303)
}

/** Shows the page before consent. A form may not lead to another host, so it has a link. */
export async function showConsent(visit: ConsoleVisit): Promise<Response> {
  const { c, t } = visit
  const w = t.console.connect
  const kept = opened(visit)
  if (!kept) return nothingWaits(visit, w.noConsent, w.noConsentText)
  const to = new URL(kept.url)
  const scopes = (to.searchParams.get('scope') ?? '').split(' ').filter((one) => one !== '')
  const content = html`${card(
    { id: 'consent', title: w.consentFacts },
    facts([
      [w.consentAt, html`<code class="wrap">${to.host}</code>`],
      [w.consentClient, html`<code class="wrap">${brief(kept.client.client_id)}</code>`],
      [
        w.consentScopes,
        scopes.length === 0
          ? w.noScopes
          : html`${scopes.map((one) => html`<code class="wrap">${brief(one)}</code> `)}`,
      ],
      [w.redirectUri, html`<code class="wrap">${hostOrigin(c)}${CALLBACK_PATH}</code>`],
    ]),
  )}
<div class="row"><a class="btn main" href="${kept.url}" rel="noreferrer">${w.goToConsent(to.host)}</a><a class="btn plain" href="${formOf(kept)}">${w.cancel}</a></div>`
  return answerPage(visit, {
    ...{ place: 'apps', content },
    title: w.consentTitle(to.host),
    lead: w.consentLead(CONSENT_SECONDS / 60),
    crumbs: [{ path: CONNECT_PATH, words: w.title }],
  })
}

/** Handles the browser's return with a code or a refusal. */
export async function takeCallback(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal, context, t } = visit
  const w = t.console.connect
  const kept = opened(visit)
  const { searchParams: said, search } = new URL(c.req.url)
  // A forged callback must not use up the state of the real one.
  if (!kept || said.get('state') !== kept.state)
    return nothingWaits(visit, w.staleConsent, w.staleConsentText, 400)
  dropConsent(c)
  const { appId, credential, client, settings, state, verifier } = kept
  const asked = appId === null ? newApp(visit, kept.classId) : await knownApp(visit, appId)
  return taking(visit, asked, new Map(kept.typed), async () => {
    const { host } = new URL(kept.url)
    const refused = said.get('error')
    if (refused === 'access_denied') throw new PageError('invalid', w.denied(host))
    if (refused !== null) {
      const more = said.get('error_description') ?? ''
      throw new PageError(
        'invalid',
        w.refused(host, brief([refused, more].filter(Boolean).join(': '), 300)),
      )
    }
    const purpose = { connector: asked.connector, credential, client, appId, settings }
    const callback = `${hostOrigin(c)}${CALLBACK_PATH}${search}`
    const came = { callback, state, verifier }
    const auth = await consentedAuth(db, principal, purpose, came, context)
    const more = settings === undefined ? {} : { settings }
    return connectWith(visit, asked, { auth, ...more }, kept.name)
  })
}

const formOf = ({ appId, classId }: Kept): string =>
  appId === null ? `${CONNECT_PATH}/${encodeURIComponent(classId)}` : `${appPath(appId)}/connection`

function nothingWaits(visit: ConsoleVisit, title: string, lead: string, status: 200 | 400 = 200) {
  const { link } = visit.t.console.connect
  return answerPage(visit, {
    ...{ place: 'apps', title, lead, status },
    content: html`<div class="row">${go(CONNECT_PATH, link, 'main')}</div>`,
  })
}
