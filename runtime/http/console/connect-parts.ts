/** One field of the form that connects an app. A secret is never written into it. */
import { html } from 'hono/html'
import { MAX_SETTING_LENGTH } from '../../contract/connector/settings.ts'
import type { Markup } from '../frame/layout.ts'
import type { Tongue } from '../frame/tongue.ts'
import type { ConnectField } from './connect-fields.ts'
import { check } from './parts.ts'

/** Longest text of a field, in characters: the key of a service account, percent-encoded, fits into a form. */
const MOST_TEXT = 16_000

type Shown = { value: string; isRequired: boolean; isKept: boolean }

export function connectField(
  t: Tongue,
  field: ConnectField,
  { value, isRequired, isKept }: Shown,
): Markup {
  const w = t.console.connect
  const { name, kind, isSecret, choices } = field
  const own = Object.hasOwn(w.fields, field.title) ? w.fields[field.title] : undefined
  const title = own === undefined ? html`<span lang="en">${field.title}</span>` : html`${own}`
  const help = [
    field.help === '' ? '' : html`<span lang="en">${field.help}</span>`,
    kind === 'json' ? w.jsonHelp : '',
    kind === 'list' ? w.listHelp : '',
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
  // A key of several lines is pasted: a password field would take its lines apart.
  if (kind === 'json' || name.endsWith('private_key'))
    return html`<textarea id="${name}" name="${name}" class="mono" rows="4" maxlength="${MOST_TEXT}" spellcheck="false" autocomplete="off"${hasHelp ? html` aria-describedby="${name}-help"` : ''}${isRequired ? html` required` : ''}>
${isSecret ? '' : value}</textarea>`
  if (isSecret)
    return html`<input id="${name}" name="${name}" type="password" maxlength="${MOST_TEXT}" autocomplete="new-password" spellcheck="false"${hasHelp ? html` aria-describedby="${name}-help"` : ''}${isRequired ? html` required` : ''}>`
  const most = kind === 'list' ? MOST_TEXT : MAX_SETTING_LENGTH
  return html`<input id="${name}" name="${name}" type="text"${kind === 'number' ? html` inputmode="numeric"` : ''} value="${value}" maxlength="${most}" spellcheck="false" autocomplete="off"${hasHelp ? html` aria-describedby="${name}-help"` : ''}${isRequired ? html` required` : ''}>`
}
