/** PERSONAL_WORDS: the page on which people choose their mail and their language. */
import type { MailChoice } from '../contract/models/personal-settings.ts'
import type { Language } from './languages.ts'

export const PERSONAL_WORDS = {
  personal_title: { en: 'Your settings', de: 'Ihre Einstellungen' },
  personal_lead: {
    en: 'Mail, language and display, for you alone.',
    de: 'E-Mail, Sprache und Anzeige, nur für Sie.',
  },
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
  colours: { en: 'Colours', de: 'Farben' },
  colours_help: { en: 'In this browser.', de: 'In diesem Browser.' },
  themes: {
    en: { system: 'As the device is set', light: 'Light', dark: 'Dark' },
    de: { system: 'Wie das Gerät', light: 'Hell', dark: 'Dunkel' },
  },
  single_keys: { en: 'Single keys', de: 'Einzelne Tasten' },
  single_keys_on: { en: 'Use single keys', de: 'Einzelne Tasten verwenden' },
  single_keys_help: {
    en: 'j, k, a, d, r, / and ? move to a control, in this browser. Turn them off if you speak to your computer.',
    de: 'j, k, a, d, r, / und ? führen zu einem Bedienelement, in diesem Browser. Schalten Sie sie aus, wenn Sie mit dem Computer sprechen.',
  },
  by_browser: { en: 'The language of the browser', de: 'Sprache des Browsers' },
  my_data_lead: {
    en: 'What Keyway keeps about you.',
    de: 'Was Keyway über Sie aufbewahrt.',
  },
  my_data_text: {
    en: 'Your name and address as the directory has them, your roles and groups, your accounts in apps, your requests and comments, who stands in for you, your mail, sign-ins and API tokens (never their secrets), and what you did, from the activity log. Your operator can give you what others wrote about you.',
    de: 'Ihr Name und Ihre Adresse, wie das Verzeichnis sie hat, Ihre Rollen und Gruppen, Ihre Konten in Anwendungen, Ihre Anfragen und Kommentare, Ihre Vertretungen, Ihre E-Mails, Anmeldungen und API-Tokens (nie deren Geheimnisse) und was Sie getan haben, aus dem Aktivitätsprotokoll. Was andere über Sie geschrieben haben, gibt Ihr Betreiber heraus.',
  },
  my_data_show: { en: 'Show it here', de: 'Hier anzeigen' },
  my_data_download: { en: 'Download it (JSON)', de: 'Herunterladen (JSON)' },
  my_data_recorded: {
    en: 'That you looked is noted in the activity log.',
    de: 'Dass Sie nachgesehen haben, wird im Aktivitätsprotokoll vermerkt.',
  },
  my_data_rows: {
    en: (shown: number, all: number) =>
      shown < all ? `The first ${shown} of ${all}; the download has more.` : `All ${all}.`,
    de: (shown: number, all: number) =>
      shown < all ? `Die ersten ${shown} von ${all}; mehr enthält die Datei.` : `Alle ${all}.`,
  },
  my_data_read_only: {
    en: 'You signed in with a read-only token. To see your data, sign in another way.',
    de: 'Sie sind mit einem Token angemeldet, das nur lesen darf. Um Ihre Daten zu sehen, melden Sie sich anders an.',
  },
  save: { en: 'Save', de: 'Speichern' },
  saved: { en: 'Your choice is saved.', de: 'Ihre Auswahl ist gespeichert.' },
} as const satisfies Record<string, Record<Language, unknown>> & {
  mail_choices: Record<Language, Record<MailChoice, readonly [name: string, what: string]>>
}
