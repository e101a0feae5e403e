/** What a person chose for themselves: how mail comes, the language, and how pages look in their browser. */
import { html } from 'hono/html'
import type { PersonalSettings } from '../../contract/models/personal-settings.ts'
import { MAIL_CHOICE_NAMES } from '../../contract/models/personal-settings.ts'
import { keysOf } from '../../contract/schema/keys.ts'
import { LANGUAGE_NAMES, LANGUAGES } from '../../words/languages.ts'
import { AREAS, layout, type Markup, proofField, type Visitor } from '../frame/layout.ts'
import { THEMES } from '../frame/look.ts'
import type { Tongue } from '../frame/tongue.ts'

type PersonalPage = {
  visitor: Visitor
  flash: Markup | null
  t: Tongue
  settings: PersonalSettings
  /** Whether the session may only look. */
  readOnly: boolean
}

/** The value of a form for the language of the browser. */
export const BY_BROWSER = 'browser'

export function personalPage(page: PersonalPage): Markup {
  const { t, visitor, flash, settings, readOnly } = page
  const words = t.w
  const radio = (name: string, value: string, isChosen: boolean, text: Markup): Markup =>
    html`<label class="choice"><input type="radio" name="${name}" value="${value}"${isChosen ? html` checked` : ''}${readOnly ? html` disabled` : ''}>${text}</label>`
  return layout({
    t,
    title: words.personal_title,
    visitor,
    content: html`<div class="page portal">
<div class="head"><div>
<ol class="crumbs"><li><a href="${AREAS.access.path}">${words.my_access}</a></li></ol>
<h1>${words.personal_title}</h1><p>${words.personal_lead}</p>
</div></div>
${flash ?? ''}
<form class="card" method="post" action="/settings/personal"><div class="in stack wide">
${proofField(visitor.proof)}
<fieldset class="field"><legend>${words.mail}</legend>
<p class="help">${words.mail_help}</p>
${MAIL_CHOICE_NAMES.map((name) => {
  const [title, what] = words.mail_choices[name]
  const text = html`<span><strong>${title}</strong><span class="sub">${what}</span></span>`
  return radio('mail', name, settings.mail === name, text)
})}</fieldset>
<fieldset class="field"><legend>${words.language}</legend>
${radio('language', BY_BROWSER, settings.language === null, html`<span>${words.by_browser}</span>`)}
${LANGUAGE_NAMES.map((name) => radio('language', name, settings.language === name, html`<span lang="${name}">${LANGUAGES[name].name}</span>`))}</fieldset>
<fieldset class="field"><legend>${words.colours}</legend>
<p class="help">${words.colours_help}</p>
${keysOf(THEMES).map((name) => radio('theme', name, t.look.theme === name, html`<span>${words.themes[name]}</span>`))}</fieldset>
<fieldset class="field"><legend>${words.single_keys}</legend>
<p class="help">${words.single_keys_help}</p>
<label class="choice"><input type="checkbox" name="keys" value="on"${t.look.keys ? html` checked` : ''}${readOnly ? html` disabled` : ''}><span>${words.single_keys_on}</span></label></fieldset>
${readOnly ? '' : html`<div class="row"><button class="btn main">${words.save}</button></div>`}
</div></form>
</div>`,
  })
}
