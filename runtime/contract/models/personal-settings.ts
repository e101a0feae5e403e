/** Personal settings: delivery of mail, and language of pages and mail. */
import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { described, strictObject } from '../schema/schemas.ts'

/** Delivery of mail -> meaning. */
export const MAIL_CHOICES = {
  AT_ONCE: 'each as it happens; many at once are combined',
  DIGEST: 'one a day, at 06:00 UTC; urgent mail is sent at once',
  NONE: 'none',
} as const
export type MailChoice = keyof typeof MAIL_CHOICES
export const MAIL_CHOICE_NAMES = keysOf(MAIL_CHOICES)

/** Must equal `LANGUAGES` of runtime/words. */
export const PERSONAL_LANGUAGES = ['en', 'de'] as const

const mail = described(
  v.picklist(MAIL_CHOICE_NAMES),
  Object.entries(MAIL_CHOICES)
    .map(([name, meaning]) => `${name}: ${meaning}`)
    .join('. '),
)
const language = described(
  v.nullable(v.picklist(PERSONAL_LANGUAGES)),
  'Language of pages and mail. null: pages follow the browser, mail is in English',
)

export const PersonalSettings = strictObject('PersonalSettings', { mail, language })
export type PersonalSettings = v.InferOutput<typeof PersonalSettings>

/** A change of settings. Members that are left out stay as they are. */
export const PersonalSettingsChange = v.object({
  mail: v.optional(mail),
  language: v.optional(language),
})
export type PersonalSettingsChange = v.InferOutput<typeof PersonalSettingsChange>
