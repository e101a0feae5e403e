/** PERSONAL_WORDS: the page on which people choose their mail and their language. */
import type { MailChoice } from '../contract/models/personal-settings.ts'
import type { Language } from './languages.ts'

export const PERSONAL_WORDS = {
  personal_title: { en: 'Mail and language', de: 'E-Mail und Sprache' },
  personal_lead: { en: 'For you alone.', de: 'Nur für Sie.' },
  mail: { en: 'Mail', de: 'E-Mail' },
  mail_help: {
    en: 'Keyway tells you what waits for you, what was decided and given, and what ends soon.',
    de: 'Keyway teilt Ihnen mit, was auf Sie wartet, was entschieden und eingerichtet wurde und was bald endet.',
  },
  mail_choices: {
    en: {
      AT_ONCE: ['At once', 'Each as it happens. When many come together, you get them as one.'],
      DIGEST: ['Once a day', 'One mail at 06:00 UTC. What cannot wait comes at once.'],
      NONE: ['None', 'What waits for you is in your inbox.'],
    },
    de: {
      AT_ONCE: ['Sofort', 'Jede einzeln. Wenn viele zusammenkommen, erhalten Sie sie als eine.'],
      DIGEST: ['Einmal am Tag', 'Eine E-Mail um 06:00 UTC. Was nicht warten kann, kommt sofort.'],
      NONE: ['Keine', 'Was auf Sie wartet, steht in Ihrem Eingang.'],
    },
  },
  language: { en: 'Language', de: 'Sprache' },
  by_browser: { en: 'That of the browser', de: 'Die des Browsers' },
  save: { en: 'Save', de: 'Speichern' },
  saved: { en: 'Your choice is saved.', de: 'Ihre Auswahl ist gespeichert.' },
} as const satisfies Record<string, Record<Language, unknown>> & {
  mail_choices: Record<Language, Record<MailChoice, readonly [name: string, what: string]>>
}
