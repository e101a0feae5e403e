/**
 * Parts of the form that connects an app: a card of fields, and one field. Secrets are never written into it.
 */
import { html } from 'hono/html'
import type { OAuthFlow } from '../../contract/connector/oauth.ts'
import { MAX_SETTING_LENGTH } from '../../contract/connector/settings.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import type { ConnectField, FieldGroup } from './connect-fields.ts'
import { card, check } from './parts.ts'

/** Longest text of a field, in characters. A percent-encoded key of a service account fits. */
const MAX_TEXT = 16_000

type Shown = { value: string; isRequired: boolean; isKept: boolean; isOfConsent?: boolean }

type GroupLook = {
  title: string
  lead: string
  /** OAuth flows by which Keyway can obtain tokens; undefined if it cannot. */
  flows: readonly OAuthFlow[] | undefined
  /** Address to which an authorization server sends people back. */
  redirectUri: string
  shown(field: ConnectField): Shown
}

/** Members of a credential that identify the OAuth client. All others are the tokens. */
const CLIENT = ['client_id', 'client_secret', 'scopes']

/** Renders the fields of one credential, or of the settings. */
export function groupCard(t: PageLocale, group: FieldGroup, look: GroupLook): Markup {
  const w = t.console.connect
  const { title, lead, flows, redirectUri, shown } = look
  const fields = (all: readonly ConnectField[]) =>
    all.map((one) => connectField(t, one, { ...shown(one), isOfConsent: flows !== undefined }))
  const content =
    flows === undefined
      ? html`${fields(group.fields)}`
      : html`${flows.includes('CODE_FLOW') ? html`<div class="field"><label for="redirect-${group.id}">${w.redirectUri}</label><p class="help" id="redirect-${group.id}-help">${w.redirectHelp}</p><input id="redirect-${group.id}" class="mono" value="${redirectUri}" readonly aria-describedby="redirect-${group.id}-help"></div>` : ''}
${fields(group.fields.filter(({ member }) => CLIENT.includes(member)).map(ofClient))}
<details class="more"><summary>${w.haveTokens}</summary><div class="stack">${fields(group.fields.filter(({ member }) => !CLIENT.includes(member)))}</div></details>`
  return card(
    {
      id: group.id === '' ? group.part : `${group.part}-${group.id}`,
      title,
      note:
        group.title === '' && group.id === ''
          ? ''
          : html`<span lang="en">${group.title || group.id}</span>`,
    },
    html`<div class="in stack">
${group.help === '' ? '' : html`<p class="small" lang="en">${group.help}</p>`}
${lead === '' ? '' : html`<p class="small">${lead}</p>`}
${content}</div>`,
  )
}

/** Shortens the contract's title, which is for pasted tokens. Here the client obtains the tokens. */
const ofClient = (field: ConnectField): ConnectField => ({
  ...field,
  title: field.title.replace(/, to renew the access token with$/, ''),
})

function connectField(
  t: PageLocale,
  field: ConnectField,
  { value, isRequired, isKept, isOfConsent = false }: Shown,
): Markup {
  const w = t.console.connect
  const { name, kind, isSecret, choices } = field
  const own = Object.hasOwn(w.fields, field.title) ? w.fields[field.title] : undefined
  const title = own === undefined ? html`<span lang="en">${field.title}</span>` : html`${own}`
  const help = [
    field.help === '' ? '' : html`<span lang="en">${field.help}</span>`,
    kind === 'json' ? w.jsonHelp : '',
    kind === 'list' ? w.listHelp : '',
    field.member === 'scopes' && isOfConsent ? w.scopesHelp : '',
    isKept ? w.secretKept : isSecret ? w.secretHelp : '',
  ]
    .filter((one) => one !== '')
    .map((one, at) => html`${at === 0 ? '' : html`<br>`}${one}`)
  if (kind === 'check')
    return check({
      name,
      value: 'yes',
      words: title,
      help: help.length === 0 ? '' : html`${help}`,
      isOn: value !== '',
    })
  return html`<div class="field"><label for="${name}">${title}${isRequired || field.mayBeEmpty ? '' : html` <span class="soft">${t.w.optional}</span>`}</label>${help.length === 0 ? '' : html`<p class="help" id="${name}-help">${help}</p>`}${control(w.choose, { name, kind, isSecret, choices, value, isRequired, hasHelp: help.length > 0 })}</div>`
}

type Control = Pick<ConnectField, 'name' | 'kind' | 'isSecret' | 'choices'> & {
  value: string
  isRequired: boolean
  hasHelp: boolean
}

function control(choose: string, field: Control): Markup {
  const { name, kind, isSecret, choices, value, isRequired, hasHelp } = field
  if (kind === 'choice')
    return html`<select id="${name}" name="${name}"${hasHelp ? html` aria-describedby="${name}-help"` : ''}${isRequired ? html` required` : ''}><option value="">${choose}</option>${choices.map((one) => html`<option value="${one}"${one === value ? html` selected` : ''} lang="en">${one}</option>`)}</select>`
  // A key of several lines is pasted. A password field would join its lines.
  if (kind === 'json' || name.endsWith('private_key'))
    return html`<textarea id="${name}" name="${name}" class="mono" rows="4" maxlength="${MAX_TEXT}" spellcheck="false" autocomplete="off"${hasHelp ? html` aria-describedby="${name}-help"` : ''}${isRequired ? html` required` : ''}>
${isSecret ? '' : value}</textarea>`
  if (isSecret)
    return html`<input id="${name}" name="${name}" type="password" maxlength="${MAX_TEXT}" autocomplete="new-password" spellcheck="false"${hasHelp ? html` aria-describedby="${name}-help"` : ''}${isRequired ? html` required` : ''}>`
  const most = kind === 'list' ? MAX_TEXT : MAX_SETTING_LENGTH
  return html`<input id="${name}" name="${name}" type="text"${kind === 'number' ? html` inputmode="numeric"` : ''} value="${value}" maxlength="${most}" spellcheck="false" autocomplete="off"${hasHelp ? html` aria-describedby="${name}-help"` : ''}${isRequired ? html` required` : ''}>`
}
