/**
 * EVIDENCE_WORDS: what the page of evidence says around what the file has. States, decisions and kinds stand there as the
 * file names them.
 */
import type { Language } from './languages.ts'

/** A table of the page: its title, then the heads of its columns. */
type TableWords = readonly string[]

type EvidenceWords = {
  app: TableWords
  notification: TableWords
  act: TableWords
  item: TableWords
  held: TableWords
  step: TableWords
  upload: TableWords
  log: TableWords
  /** What of the record stands above the tables. */
  as_of: string
  deadline_at: string
  completed_at: string
  id: string
  taken_at: string
  state: string
  final: string
  head: string
  signed: string
  yes: string
  not_final: string
  counts: string
  access_of(person: string): string
  offboarding_of(person: string): string
  more(count: number): string
  host: string
  waits: string
  account: string
  /** Where groups of people are that are of no app. */
  own: string
  group: string
  /** In place of an account that no sync has read. */
  unseen: string
  /** Why, where neither a request nor a policy gave it. */
  found: string
  ends(at: string): string
  reading(there: boolean, at: string, by: string, call: string): string
  gone(run: string, at: string): string
}

export const EVIDENCE_WORDS: Record<Language, EvidenceWords> = {
  en: {
    app: [
      'Apps',
      'App',
      'State',
      'Sync',
      'Read at',
      'In the app',
      'Reviewed',
      'Left out',
      'Connector',
    ],
    notification: ['Notifications', 'When', 'To', 'By', 'What', 'Outcome'],
    act: ['Decisions', 'When', 'By', 'Decision', 'Lines', 'Reason'],
    item: [
      'Lines',
      'App',
      'Account',
      'Person',
      'Access',
      'State',
      'Decided by',
      'Decided at',
      'Reason',
      'Last reading',
    ],
    held: ['Access', 'App', 'Account', 'Access', 'Since', 'Until', 'Why'],
    step: ['Accounts', 'App', 'Account', 'State', 'Problem', 'Last reading'],
    upload: ['Attached files', 'When', 'By', 'Name', 'Bytes', 'SHA-256'],
    log: ['Activity log', 'When', 'By', 'What', 'About'],
    as_of: 'As of',
    deadline_at: 'Deadline',
    completed_at: 'Completed at',
    id: 'Id',
    taken_at: 'Taken at',
    state: 'State',
    final: 'Final',
    head: 'Log ends with',
    signed: 'Signed by',
    yes: 'yes',
    not_final: 'no: more may follow',
    counts:
      'This page is for reading. What counts is the file that it came with: its lines, their digests and its signature.',
    access_of: (person) => `Access of ${person}`,
    offboarding_of: (person) => `Offboarding of ${person}`,
    more: (count) => `${count} more are in the file.`,
    host: 'Keyway itself',
    waits: 'waits',
    account: 'the account itself',
    own: 'Keyway',
    group: 'group',
    unseen: 'read by no sync yet',
    found: 'found; no request or policy',
    ends: (at) => `ends ${at}`,
    reading: (there, at, by, call) => `${there ? 'there' : 'gone'} at ${at} (${by}, call ${call})`,
    gone: (run, at) => `gone in sync ${run} at ${at}`,
  },
  de: {
    app: [
      'Anwendungen',
      'Anwendung',
      'Status',
      'Abgleich',
      'Gelesen am',
      'In der Anwendung',
      'Geprüft',
      'Ausgelassen',
      'Connector',
    ],
    notification: ['Benachrichtigungen', 'Wann', 'An', 'Wodurch', 'Was', 'Ergebnis'],
    act: ['Entscheidungen', 'Wann', 'Von', 'Entscheidung', 'Zeilen', 'Begründung'],
    item: [
      'Zeilen',
      'Anwendung',
      'Konto',
      'Person',
      'Zugang',
      'Status',
      'Entschieden von',
      'Entschieden am',
      'Begründung',
      'Zuletzt gelesen',
    ],
    held: ['Zugänge', 'Anwendung', 'Konto', 'Zugang', 'Seit', 'Bis', 'Grund'],
    step: ['Konten', 'Anwendung', 'Konto', 'Status', 'Problem', 'Zuletzt gelesen'],
    upload: ['Angehängte Dateien', 'Wann', 'Von', 'Name', 'Bytes', 'SHA-256'],
    log: ['Aktivitätsprotokoll', 'Wann', 'Von', 'Was', 'Betrifft'],
    as_of: 'Stand',
    deadline_at: 'Frist',
    completed_at: 'Abgeschlossen am',
    id: 'ID',
    taken_at: 'Erstellt am',
    state: 'Status',
    final: 'Endgültig',
    head: 'Protokoll endet mit',
    signed: 'Unterzeichnet mit',
    yes: 'ja',
    not_final: 'nein: es kann noch mehr folgen',
    counts:
      'Diese Seite ist zum Lesen da. Was zählt, ist die Datei, zu der sie gehört: ihre Zeilen, deren Prüfsummen und ihre Signatur.',
    access_of: (person) => `Zugänge von ${person}`,
    offboarding_of: (person) => `Austritt von ${person}`,
    more: (count) => `${count} weitere stehen in der Datei.`,
    host: 'Keyway selbst',
    waits: 'wartet',
    account: 'das Konto selbst',
    own: 'Keyway',
    group: 'Gruppe',
    unseen: 'noch in keinem Abgleich gelesen',
    found: 'vorgefunden; ohne Antrag oder Richtlinie',
    ends: (at) => `endet ${at}`,
    reading: (there, at, by, call) =>
      `${there ? 'vorhanden' : 'entfernt'} am ${at} (${by}, Aufruf ${call})`,
    gone: (run, at) => `entfernt in Abgleich ${run} am ${at}`,
  },
}
