/** What a person chose for themselves: how mail comes, and the language of pages and mail. */
import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { described, strictObject } from '../schema/schemas.ts'

/** MAIL_CHOICES: how mail may come -> what that means. */
export const MAIL_CHOICES = {
  AT_ONCE: 'each as it happens; many at a time come as one',
  DIGEST: 'one a day, at 06:00 UTC; what cannot wait comes at once',
  NONE: 'none',
} as const
export type MailChoice = keyof typeof MAIL_CHOICES
export const MAIL_CHOICE_NAMES = keysOf(MAIL_CHOICES)

/** The same as `LANGUAGES` of runtime/words. */
export const PERSONAL_LANGUAGES = ['en', 'de'] as const

const mail = described(
  v.picklist(MAIL_CHOICE_NAMES),
  Object.entries(MAIL_CHOICES)
    .map(([name, meaning]) => `${name}: ${meaning}`)
    .join('. '),
)
const language = described(
  v.nullable(v.picklist(PERSONAL_LANGUAGES)),
  'Of pages and mail. null: pages follow the browser, mail is in English',
)

export const PersonalSettings = strictObject('PersonalSettings', { mail, language })
export type PersonalSettings = v.InferOutput<typeof PersonalSettings>

/** What is left out stays as it is. */
export const PersonalSettingsChange = v.object({
  mail: v.optional(mail),
  language: v.optional(language),
})
export type PersonalSettingsChange = v.InferOutput<typeof PersonalSettingsChange>
