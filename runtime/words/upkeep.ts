/** UPKEEP_WORDS: how a host does by itself, a comparison of what is installed, and the record of a person. */
export const UPKEEP_WORDS = {
  upkeep: { en: 'Upkeep', de: 'Wartung' },
  upkeep_lead: {
    en: 'Disk use, leftovers, outgoing mail, and what still needs an older secret.',
    de: 'Was wächst, was übrig ist, wie E-Mail hinausgeht und was noch ein älteres Geheimnis braucht.',
  },
  doctor: { en: 'Report', de: 'Bericht' },
  doctor_states: {
    en: { good: 'Good', look: 'Look at it', act: 'Act' },
    de: { good: 'Gut', look: 'Ansehen', act: 'Handeln' },
  },
  doctor_columns: { en: ['Check', 'State', 'Found'], de: ['Prüfung', 'Zustand', 'Befund'] },
  doctor_none: { en: 'Not examined yet', de: 'Noch nicht untersucht' },
  doctor_none_text: {
    en: 'An examination of this host takes about a second. Its report stays here until the host is restarted.',
    de: 'Eine Untersuchung dieses Hosts dauert etwa eine Sekunde. Ihr Bericht bleibt hier, bis der Host neu startet.',
  },
  doctor_run: { en: 'Examine now', de: 'Jetzt untersuchen' },
  mail_card: { en: 'Mail', de: 'E-Mail-Versand' },
  mail_server: { en: 'Goes to', de: 'Geht an' },
  mail_no_server: {
    en: 'No mail is sent: KEYWAY_MAIL_SERVER is not set.',
    de: 'Es wird keine E-Mail gesendet: KEYWAY_MAIL_SERVER ist nicht gesetzt.',
  },
  mail_from: { en: 'Comes from', de: 'Kommt von' },
  mail_waiting: { en: 'Due and not sent', de: 'Fällig und nicht gesendet' },
  mail_failing: { en: 'Put off by the server', de: 'Vom Server aufgeschoben' },
  mail_refused: { en: 'Refused within a week', de: 'In einer Woche abgewiesen' },
  mail_refused_columns: {
    en: ['To', 'When', 'Why'],
    de: ['An', 'Wann', 'Warum'],
  },
  mail_to: { en: 'Send a test mail to', de: 'Eine Testmail senden an' },
  mail_send: { en: 'Send it now', de: 'Jetzt senden' },
  mail_took: {
    en: (server: string, ms: number) => `${server} took it after ${ms} ms`,
    de: (server: string, ms: number) => `${server} hat sie nach ${ms} ms angenommen`,
  },
  mail_took_not: {
    en: (server: string) => `${server} did not take it`,
    de: (server: string) => `${server} hat sie nicht angenommen`,
  },
  mail_not_sent: { en: 'It was not sent', de: 'Sie wurde nicht gesendet' },
  rotation: { en: 'Change of KEYWAY_SECRET', de: 'Wechsel von KEYWAY_SECRET' },
  rotation_done: {
    en: 'Nothing needs an older secret.',
    de: 'Nichts braucht ein älteres Geheimnis.',
  },
  rotation_waits: {
    en: 'Keep the older secrets until nothing needs them.',
    de: 'Behalten Sie die älteren Geheimnisse, bis nichts sie mehr braucht.',
  },
  rotation_needs: {
    en: {
      api_tokens: 'API tokens',
      scim_tokens: 'SCIM tokens',
      sessions: 'Sessions',
      login_links: 'Sign-in links',
      apps: 'Apps',
      inline_webhooks: 'Webhooks',
      probes: 'Credentials of connectors',
    },
    de: {
      api_tokens: 'API-Tokens',
      scim_tokens: 'SCIM-Tokens',
      sessions: 'Sitzungen',
      login_links: 'Anmelde-Links',
      apps: 'Anwendungen',
      inline_webhooks: 'Webhooks',
      probes: 'Zugangsdaten von Connectors',
    },
  },
  rotation_since: { en: 'Newest secret since', de: 'Neuestes Geheimnis seit' },
  rotation_end: { en: 'Revoke unused tokens', de: 'Ungenutzte Tokens widerrufen' },
  rotation_ended: { en: 'The tokens are revoked.', de: 'Die Tokens sind widerrufen.' },
  rotation_end_text: {
    en: (count: number) =>
      count === 1
        ? 'One API token is revoked that has not been used since the newest secret was set. This cannot be undone.'
        : `${count} API tokens are revoked that have not been used since the newest secret was set. This cannot be undone.`,
    de: (count: number) =>
      count === 1
        ? 'Ein API-Token wird widerrufen, das seit dem neuesten Geheimnis nicht benutzt wurde. Das lässt sich nicht rückgängig machen.'
        : `${count} API-Tokens werden widerrufen, die seit dem neuesten Geheimnis nicht benutzt wurden. Das lässt sich nicht rückgängig machen.`,
  },
  compare: { en: 'Compare two generations', de: 'Zwei Generationen vergleichen' },
  installed_history: {
    en: 'History of the installation',
    de: 'Verlauf der Installation',
  },
  compare_lead: {
    en: 'The differences in the installation between an earlier and a later generation.',
    de: 'Was sich zwischen einer früheren und einer späteren Generation an dem, was installiert ist, unterscheidet.',
  },
  compare_from: { en: 'Earlier', de: 'Frühere' },
  compare_to: { en: 'Later', de: 'Spätere' },
  compare_do: { en: 'Compare', de: 'Vergleichen' },
  compare_title: {
    en: (from: number, to: number) => `From ${from} to ${to}`,
    de: (from: number, to: number) => `Von ${from} bis ${to}`,
  },
  compare_not: { en: 'They cannot be compared', de: 'Sie lassen sich nicht vergleichen' },
  record: { en: 'Record of the person', de: 'Daten der Person' },
  record_text: {
    en: 'All that is held of the person, as a file. That it was taken is recorded.',
    de: 'Alles, was über die Person gespeichert ist, als Datei. Dass sie abgerufen wurde, wird protokolliert.',
  },
  record_download: { en: 'Download it', de: 'Herunterladen' },
  record_erase: { en: 'Erase the person', de: 'Person löschen' },
  record_erase_title: { en: 'Erase this person?', de: 'Diese Person löschen?' },
  record_erase_lead: {
    en: 'Personal data is removed from every row. This cannot be undone. The activity log still verifies.',
    de: 'Alles Persönliche wird aus jeder Zeile entfernt. Das lässt sich nicht rückgängig machen. Das Aktivitätsprotokoll bleibt prüfbar.',
  },
  record_erases: {
    en: (what: string, count: number) => `${what}: ${count} ${count === 1 ? 'row' : 'rows'}`,
    de: (what: string, count: number) => `${what}: ${count} ${count === 1 ? 'Zeile' : 'Zeilen'}`,
  },
  record_stays: {
    en: (what: string, why: string) => `stays: ${what}: ${why}`,
    de: (what: string, why: string) => `bleibt: ${what}: ${why}`,
  },
  record_erased: { en: 'The person is erased.', de: 'Die Person ist gelöscht.' },
} as const
