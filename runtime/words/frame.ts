/** FRAME_WORDS: what stands around every page, and what is said of what went wrong. */

/** Titles of pages of failures, by status. */
const TITLES: Readonly<Record<'en' | 'de', Readonly<Record<number, string>>>> = {
  en: {
    400: 'That form cannot be read',
    403: 'Not allowed',
    404: 'Not found',
    405: 'Not here',
    409: 'Not now',
    413: 'Too large',
    415: 'That form cannot be read',
    422: 'That does not fit',
    429: 'Too many attempts',
    503: 'Try again in a moment',
  },
  de: {
    400: 'Das Formular lässt sich nicht lesen',
    403: 'Nicht erlaubt',
    404: 'Nicht gefunden',
    405: 'Hier nicht möglich',
    409: 'Gerade nicht möglich',
    413: 'Zu groß',
    415: 'Das Formular lässt sich nicht lesen',
    422: 'Das passt nicht',
    429: 'Zu viele Versuche',
    503: 'Versuchen Sie es gleich noch einmal',
  },
}

/** Why nothing could be read or changed: of the database, or of its disk. */
const OUTAGES = {
  en: {
    away: 'Keyway cannot reach its database at the moment, so nothing was changed. Try again in a few seconds.',
    full: 'The disk of Keyway is full, so this could not be saved. Ask an administrator to make room, then try again.',
    contended: 'Somebody else changed the same at this moment, so nothing was done. Try again.',
    too_slow: 'The database took too long, so nothing was done. Try again in a moment.',
    silent: 'What this is read from says nothing. Try again in a moment.',
  },
  de: {
    away: 'Keyway erreicht gerade seine Datenbank nicht, deshalb wurde nichts geändert. Versuchen Sie es in einigen Sekunden noch einmal.',
    full: 'Die Festplatte von Keyway ist voll, deshalb ließ sich das nicht speichern. Bitten Sie einen Administrator, Platz zu schaffen, und versuchen Sie es dann noch einmal.',
    contended:
      'Jemand anderes hat in diesem Moment dasselbe geändert, deshalb ist nichts geschehen. Versuchen Sie es noch einmal.',
    too_slow:
      'Die Datenbank brauchte zu lange, deshalb ist nichts geschehen. Versuchen Sie es gleich noch einmal.',
    silent: 'Es kommt keine Antwort. Versuchen Sie es gleich noch einmal.',
  },
} as const

export const FRAME_WORDS = {
  skip: { en: 'Skip to content', de: 'Zum Inhalt' },
  my_access: { en: 'My access', de: 'Mein Zugang' },
  inbox: { en: 'Inbox', de: 'Eingang' },
  console: { en: 'Console', de: 'Konsole' },
  overview: { en: 'Overview', de: 'Übersicht' },
  activity_log: { en: 'Activity log', de: 'Aktivitätsprotokoll' },
  people: { en: 'People', de: 'Personen' },
  access_requests: { en: 'Requests', de: 'Anfragen' },
  policies: { en: 'Policies', de: 'Richtlinien' },
  reviews: { en: 'Access reviews', de: 'Zugriffsüberprüfungen' },
  cost: { en: 'Cost', de: 'Kosten' },
  connectors: { en: 'Connectors', de: 'Connectors' },
  webhooks: { en: 'Webhooks', de: 'Webhooks' },
  host_settings: { en: 'Settings', de: 'Einstellungen' },
  background: { en: 'Background', de: 'Hintergrund' },
  side_access: { en: 'Access', de: 'Zugang' },
  side_runtime: { en: 'Runtime', de: 'Betrieb' },
  areas: { en: 'Areas', de: 'Bereiche' },
  search_apps: { en: 'Search apps', de: 'Anwendungen suchen' },
  account_of: {
    en: (name: string) => `Account of ${name}`,
    de: (name: string) => `Konto von ${name}`,
  },
  roles: {
    en: (names: string) => `Roles: ${names}`,
    de: (names: string) => `Rollen: ${names}`,
  },
  api_tokens: { en: 'API tokens', de: 'API-Tokens' },
  my_data: { en: 'My data', de: 'Meine Daten' },
  documentation: { en: 'Documentation', de: 'Dokumentation' },
  sign_out: { en: 'Sign out', de: 'Abmelden' },
  sign_out_everywhere: { en: 'Sign out everywhere', de: 'Überall abmelden' },
  tasks_waiting: { en: 'tasks waiting: ', de: 'wartende Aufgaben: ' },
  to_the_start: { en: 'Go to the start', de: 'Zum Anfang' },
  previous: { en: 'Previous', de: 'Zurück' },
  next: { en: 'Next', de: 'Weiter' },
  page_of: {
    en: (page: number, pages: number, total: number) => `Page ${page} of ${pages}, ${total} in all`,
    de: (page: number, pages: number, total: number) =>
      `Seite ${page} von ${pages}, insgesamt ${total}`,
  },
  pages_of: {
    en: (what: string) => `Pages of ${what}`,
    de: (what: string) => `Seiten: ${what}`,
  },
  table_of: {
    en: (what: string) => `${what}, table`,
    de: (what: string) => `${what}, Tabelle`,
  },
  someone: { en: 'Someone', de: 'Jemand' },
  you: { en: 'You', de: 'Sie' },
  optional: { en: '(optional)', de: '(freiwillig)' },
  titles: TITLES,
  outages: OUTAGES,
  page_too_slow: {
    en: 'This page took too long, so Keyway stopped waiting for it. Nothing was changed. Try again; if it happens again, tell the operator of Keyway.',
    de: 'Diese Seite brauchte zu lange, deshalb wartet Keyway nicht mehr auf sie. Es wurde nichts geändert. Versuchen Sie es noch einmal; geschieht es wieder, sagen Sie es dem Betreiber.',
  },
  work_too_slow: {
    en: 'This takes longer than it should, and may still be carried out. Reload the page before you send it again.',
    de: 'Das dauert länger, als es sollte, und geschieht vielleicht noch. Sehen Sie sich die Seite noch einmal an, bevor Sie es erneut senden.',
  },
  try_again: { en: 'Try again', de: 'Noch einmal versuchen' },
  went_wrong: { en: 'Something went wrong', de: 'Etwas ist schiefgegangen' },
} as const
