/** The page of a person's own settings, and what it sends. */
import { CoreError } from '../../contract/errors/problem.ts'
import { MAIL_CHOICES } from '../../contract/models/personal-settings.ts'
import { isKeyOf } from '../../contract/schema/keys.ts'
import { changePersonalSettings, getPersonalSettings } from '../../core/mail/settings.ts'
import { LANGUAGES } from '../../words/languages.ts'
import { keepLook } from '../frame/cookies.ts'
import type { Form } from '../frame/form.ts'
import { THEMES } from '../frame/look.ts'
import { BY_BROWSER, personalPage } from './personal-page.ts'
import type { Visit } from './visit.ts'

export async function showPersonal(visit: Visit): Promise<Response> {
  const { c, db, principal, t } = visit
  const settings = await getPersonalSettings(db, principal)
  const [visitor, flash] = [await visit.visitor(), visit.flash()]
  const { readOnly } = principal
  return c.html(personalPage({ t, visitor, flash, settings, readOnly }))
}

export async function savePersonal(visit: Visit, form: Form): Promise<Response> {
  const { c, db, principal, t } = visit
  const mail = form.get('mail') ?? ''
  const language = form.get('language') ?? ''
  // A page of an earlier version does not say.
  const theme = form.get('theme') ?? t.look.theme
  const keys = form.has('theme') ? form.get('keys') === 'on' : t.look.keys
  const isLanguage = isKeyOf(LANGUAGES, language)
  const isChoice = isLanguage || language === BY_BROWSER
  if (!isKeyOf(MAIL_CHOICES, mail) || !isChoice || !isKeyOf(THEMES, theme))
    throw new CoreError('bad_request', 'The form does not say what to choose')
  await changePersonalSettings(db, principal, { mail, language: isLanguage ? language : null })
  keepLook(c, { theme, keys })
  visit.say('saved')
  return c.redirect('/settings/personal', 303)
}
