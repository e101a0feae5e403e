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
  /** What of the record stands above the tables. */
  as_of: string
  deadline_at: string
  completed_at: string
  id: string
  taken_at: string
  state: string
  final: string
  log: string
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
  reading(there: boolean, at: string, by: string, call: string): string
  gone(run: string, at: string): string
}

export const EVIDENCE_WORDS: Record<Language, EvidenceWords> = {
  en: {
    app: ['Apps', 'App', 'State', 'Sync', 'Read at', 'There', 'Reviewed', 'Left out', 'Connector'],
    notification: ['Notifications', 'When', 'To', 'By', 'What', 'Outcome'],
    act: ['Decisions', 'When', 'By', 'Decision', 'Lines', 'Reason'],
    item: ['Lines', 'Account', 'Person', 'Access', 'State', 'Decided by', 'Reason', 'Last reading'],
    held: ['Access', 'App', 'Account', 'Access', 'Since', 'Until', 'Why'],
    step: ['Accounts', 'App', 'Account', 'State', 'Problem', 'Last reading'],
    upload: ['Attached files', 'When', 'By', 'Name', 'Bytes', 'SHA-256'],
    as_of: 'As of',
    deadline_at: 'Deadline',
    completed_at: 'Completed at',
    id: 'Id',
    taken_at: 'Taken at',
    state: 'State',
    final: 'Final',
    log: 'Activity log',
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
      'Vorhanden',
      'Geprüft',
      'Ausgelassen',
      'Connector',
    ],
    notification: ['Benachrichtigungen', 'Wann', 'An', 'Wodurch', 'Was', 'Ergebnis'],
    act: ['Entscheidungen', 'Wann', 'Von', 'Entscheidung', 'Zeilen', 'Begründung'],
    item: [
      'Zeilen',
      'Konto',
      'Person',
      'Zugang',
      'Status',
      'Entschieden von',
      'Begründung',
      'Zuletzt gelesen',
    ],
    held: ['Zugänge', 'Anwendung', 'Konto', 'Zugang', 'Seit', 'Bis', 'Grund'],
    step: ['Konten', 'Anwendung', 'Konto', 'Status', 'Problem', 'Zuletzt gelesen'],
    upload: ['Angehängte Dateien', 'Wann', 'Von', 'Name', 'Bytes', 'SHA-256'],
    as_of: 'Stand',
    deadline_at: 'Frist',
    completed_at: 'Abgeschlossen am',
    id: 'ID',
    taken_at: 'Erstellt am',
    state: 'Status',
    final: 'Endgültig',
    log: 'Aktivitätsprotokoll',
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
    reading: (there, at, by, call) =>
      `${there ? 'vorhanden' : 'entfernt'} am ${at} (${by}, Aufruf ${call})`,
    gone: (run, at) => `entfernt in Abgleich ${run} am ${at}`,
  },
}
