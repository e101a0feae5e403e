/** Personal settings: mail, language, and the appearance of pages in the browser. */
import { html } from 'hono/html'
import { badRequest } from '../../contract/errors/problem.ts'
import { MAIL_CHOICE_NAMES, MAIL_CHOICES } from '../../contract/models/personal-settings.ts'
import { isKeyOf, keysOf } from '../../contract/schema/keys.ts'
import { changePersonalSettings, getPersonalSettings } from '../../core/mail/settings.ts'
import { LANGUAGE_NAMES, LANGUAGES } from '../../words/languages.ts'
import { keepLook } from '../frame/cookies.ts'
import type { Form } from '../frame/form.ts'
import { type Markup, proofField } from '../frame/layout.ts'
import { THEMES } from '../frame/look.ts'
import { answerPortal } from './portal.ts'
import type { Visit } from './visit.ts'

/** Form value for the language of the browser. */
const BY_BROWSER = 'browser'

export async function showPersonal(visit: Visit): Promise<Response> {
  const { db, principal, t } = visit
  const settings = await getPersonalSettings(db, principal)
  const { readOnly } = principal
  const { w } = t
  const radio = (name: string, value: string, isChosen: boolean, text: Markup): Markup =>
    html`<label class="choice"><input type="radio" name="${name}" value="${value}"${isChosen ? html` checked` : ''}${readOnly ? html` disabled` : ''}>${text}</label>`
  return answerPortal(visit, {
    ...{ title: w.personal_title, lead: w.personal_lead },
    content: html`<form class="card" method="post" action="/settings/personal"><div class="in stack wide">
${proofField(visit.proof)}
<fieldset class="field"><legend>${w.mail}</legend>
<p class="help">${w.mail_help}</p>
${MAIL_CHOICE_NAMES.map((name) => {
  const [title, what] = w.mail_choices[name]
  const text = html`<span><strong>${title}</strong><span class="sub">${what}</span></span>`
  return radio('mail', name, settings.mail === name, text)
})}</fieldset>
<fieldset class="field"><legend>${w.language}</legend>
${radio('language', BY_BROWSER, settings.language === null, html`<span>${w.by_browser}</span>`)}
${LANGUAGE_NAMES.map((name) => radio('language', name, settings.language === name, html`<span lang="${name}">${LANGUAGES[name].name}</span>`))}</fieldset>
<fieldset class="field"><legend>${w.colours}</legend>
<p class="help">${w.colours_help}</p>
${keysOf(THEMES).map((name) => radio('theme', name, t.look.theme === name, html`<span>${w.themes[name]}</span>`))}</fieldset>
<fieldset class="field"><legend>${w.single_keys}</legend>
<p class="help">${w.single_keys_help}</p>
<label class="choice"><input type="checkbox" name="keys" value="on"${t.look.keys ? html` checked` : ''}${readOnly ? html` disabled` : ''}><span>${w.single_keys_on}</span></label></fieldset>
${readOnly ? '' : html`<div class="row"><button class="btn main">${w.save}</button></div>`}
</div></form>`,
  })
}

export async function savePersonal(visit: Visit, form: Form): Promise<Response> {
  const { c, db, principal, t } = visit
  const mail = form.get('mail') ?? ''
  const language = form.get('language') ?? ''
  // A page of an earlier version does not send it.
  const theme = form.get('theme') ?? t.look.theme
  const keys = form.has('theme') ? form.get('keys') === 'on' : t.look.keys
  const isLanguage = isKeyOf(LANGUAGES, language)
  const isChoice = isLanguage || language === BY_BROWSER
  if (!isKeyOf(MAIL_CHOICES, mail) || !isChoice || !isKeyOf(THEMES, theme))
    throw badRequest('The form names no choice')
  await changePersonalSettings(db, principal, { mail, language: isLanguage ? language : null })
  keepLook(c, { theme, keys })
  return visit.done('saved', '/settings/personal')
}
