/** CONSOLE_OVERVIEW: the words of the console: its overview, the log, and what all changes have. */
import type { AttentionKind } from '../contract/endpoints/overview.ts'
import { inBoth } from './say.ts'
import { counting } from './time.ts'

const en = counting('en')
const de = counting('de')

export const CONSOLE_OVERVIEW = {
  parts: inBoth({
    en: { search: 'Search', clear: 'Clear' },
    de: { search: 'Suchen', clear: 'Zurücksetzen' },
  }),
  change: inBoth({
    en: {
      whatChanges: 'What will be different',
      notYet: (button: string) => `Nothing is changed yet. Press “${button}” below to do it.`,
      nothingDifferent: 'Nothing: this is already so.',
      why: 'Why',
      whyHelp: 'It is recorded in the history and in the activity log.',
      bounds: {
        longest: (most: number) => `at most ${most} characters`,
        least: (least: number) => `at least ${least}`,
        most: (most: number) => `at most ${most}`,
      },
      noNumber: 'must be a whole number',
      unlike: 'this value is not valid here',
      changedSince:
        'What you filled in is not what this page showed before. Look at what will be different now.',
      cancel: 'Cancel',
      back: 'Back',
      notDone: 'It was not done',
      notPossible: 'It cannot be done now',
    },
    de: {
      whatChanges: 'Was sich ändert',
      notYet: (button: string) =>
        `Noch ist nichts geändert. Drücken Sie unten „${button}“, um es zu tun.`,
      nothingDifferent: 'Nichts: Es ist schon so.',
      why: 'Begründung',
      whyHelp: 'Sie steht im Verlauf und im Aktivitätsprotokoll.',
      bounds: {
        longest: (most: number) => `höchstens ${most} Zeichen`,
        least: (least: number) => `mindestens ${least}`,
        most: (most: number) => `höchstens ${most}`,
      },
      noNumber: 'muss eine ganze Zahl sein',
      unlike: 'das passt hier nicht',
      changedSince:
        'Ihre Eingaben sind andere, als diese Seite zuletzt gezeigt hat. Sehen Sie, was sich jetzt ändert.',
      cancel: 'Abbrechen',
      back: 'Zurück',
      notDone: 'Es wurde nichts geändert',
      notPossible: 'Das ist gerade nicht möglich',
    },
  }),
  home: inBoth({
    en: {
      title: (bad: number, waits: number): string =>
        bad + waits === 0
          ? 'Everything works'
          : bad === 0
            ? `${en(waits, 'thing', 'things')} ${waits === 1 ? 'waits' : 'wait'} for a decision`
            : `${en(bad, 'thing', 'things')} ${bad === 1 ? 'fails' : 'fail'}${waits > 0 ? `, ${waits} more ${waits === 1 ? 'waits' : 'wait'}` : ''}`,
      plainTitle: 'Console',
      plainLead: 'What your roles let you see.',
      aboutLog: 'Who did what, and when.',
      attention: 'Needs attention',
      worstFirst: 'Worst first',
      fine: 'Nothing has failed',
      fineText: 'Failures appear here. Your tasks are in your inbox.',
      what: 'What',
      since: 'Since',
      action: 'Action',
      look: 'View',
      turns: 'Whose turn it is',
      noTurns: 'No one has an open task',
      noTurnsText: 'People with something to decide or do appear here.',
      who: 'Who',
      tasks: 'Tasks',
      oldest: 'Oldest',
      calls: 'Calls per hour',
      callsNote: 'the last 24 hours, by whose fault a failure was',
      callsText: (all: string, failed: string) =>
        `${all} calls, of which ${failed} failed. The table below has every hour.`,
      hour: 'Hour',
      asTable: 'As a table',
      answered: 'Answered',
      byCaller: 'The caller failed',
      byProvider: 'The provider failed',
      byConnector: 'The connector failed',
      byUs: 'A setting, or Keyway',
      noCalls: 'No calls yet',
      noCallsText: 'Calls of connectors are counted here, minute by minute, for 30 days.',
      openRequests: 'Open requests',
      oldestAge: (age: string) => `oldest ${age}`,
      ending: 'Ends within 7 days',
      apps: 'Apps in sync',
      appsTroubled: (count: number) => `${count} in trouble`,
      allFine: 'none in trouble',
      hosts: 'Hosts',
      hostsOf: (all: number) => `of ${all} live`,
      generation: (number: number) => `generation ${number}`,
      connectors: 'Connectors serving',
      of: (all: number) => `of ${all}`,
      failed: 'Failed',
      waits: 'Waits',
      kinds: {
        connector_quarantined: (name) => `Connector ${name} is quarantined`,
        connector_broken: (name) => `Connector ${name} cannot be served`,
        sync_stopped: (name) => `Sync of ${name} stopped`,
        sync_failed: (name) => `Sync of ${name} failed`,
        app_away: (name) => `${name} does not answer`,
        webhook_failing: (name) => `Webhook “${name}” fails`,
        host_problem: (name) => `Host ${name.slice(0, 8)} does not serve all that is installed`,
        removal_failed: (name) => `Access to ${name} has ended and was not removed`,
        connector_suspect: (name) => `Connector ${name} is watched`,
        version_waits: (name) => `${name} is kept and does not serve`,
      } satisfies Record<AttentionKind, (name: string) => string>,
    },
    de: {
      title: (bad: number, waits: number): string =>
        bad + waits === 0
          ? 'Alles funktioniert'
          : bad === 0
            ? `${de(waits, 'Sache wartet', 'Sachen warten')} auf eine Entscheidung`
            : `${de(bad, 'Störung', 'Störungen')}${waits > 0 ? `, ${waits} weitere ${waits === 1 ? 'Sache wartet' : 'Sachen warten'}` : ''}`,
      plainTitle: 'Konsole',
      plainLead: 'Was Sie mit Ihren Rollen sehen dürfen.',
      aboutLog: 'Wer was getan hat, und wann.',
      attention: 'Handlungsbedarf',
      worstFirst: 'Das Dringendste zuerst',
      fine: 'Nichts ist fehlgeschlagen',
      fineText: 'Was fehlschlägt, erscheint hier. Was auf Sie wartet, steht in Ihrem Eingang.',
      what: 'Was',
      since: 'Seit',
      action: 'Aktion',
      look: 'Ansehen',
      turns: 'Wer am Zug ist',
      noTurns: 'Niemand hat eine offene Aufgabe',
      noTurnsText: 'Wer etwas entscheiden oder tun muss, erscheint hier.',
      who: 'Wer',
      tasks: 'Aufgaben',
      oldest: 'Älteste',
      calls: 'Aufrufe je Stunde',
      callsNote: 'die letzten 24 Stunden, Fehler nach Verursacher',
      callsText: (all: string, failed: string) =>
        `${all} Aufrufe, davon ${failed} fehlgeschlagen. Die Tabelle unten zeigt jede Stunde.`,
      hour: 'Stunde',
      asTable: 'Als Tabelle',
      answered: 'Beantwortet',
      byCaller: 'Fehler des Aufrufers',
      byProvider: 'Fehler des Systems',
      byConnector: 'Fehler des Connectors',
      byUs: 'Einstellung oder Keyway',
      noCalls: 'Noch keine Aufrufe',
      noCallsText: 'Aufrufe von Connectors werden hier minutengenau gezählt, 30 Tage lang.',
      openRequests: 'Offene Anfragen',
      oldestAge: (age: string) => `älteste: ${age}`,
      ending: 'Enden in 7 Tagen',
      apps: 'Anwendungen aktuell',
      appsTroubled: (count: number) => `${count} gestört`,
      allFine: 'keine gestört',
      hosts: 'Hosts',
      hostsOf: (all: number) => `von ${all} erreichbar`,
      generation: (number: number) => `Generation ${number}`,
      connectors: 'Aktive Connectors',
      of: (all: number) => `von ${all}`,
      failed: 'Gestört',
      waits: 'Wartet',
      kinds: {
        connector_quarantined: (name) => `Connector ${name} ist in Quarantäne`,
        connector_broken: (name) => `Connector ${name} kann nicht betrieben werden`,
        sync_stopped: (name) => `Abgleich von ${name} wurde angehalten`,
        sync_failed: (name) => `Abgleich von ${name} ist fehlgeschlagen`,
        app_away: (name) => `${name} antwortet nicht`,
        webhook_failing: (name) => `Webhook „${name}“ schlägt fehl`,
        host_problem: (name) =>
          `Host ${name.slice(0, 8)} betreibt nicht alles, was installiert ist`,
        removal_failed: (name) => `Zugang zu ${name} ist abgelaufen und wurde nicht entzogen`,
        connector_suspect: (name) => `Connector ${name} wird beobachtet`,
        version_waits: (name) => `${name} liegt bereit und ist nicht aktiv`,
      } satisfies Record<AttentionKind, (name: string) => string>,
    },
  }),
  log: inBoth({
    en: {
      title: 'Activity log',
      brokenTitle: 'The activity log was changed',
      lead: (count: string) =>
        `${count} entries. Each is chained to the one before it, so that a later change shows.`,
      whole: (count: number) =>
        count === 1
          ? 'The newest entry matches the one before it'
          : `The newest ${count} entries each match the one before`,
      wholeText: (head: string, waiting: number) =>
        `Up to ${head}…${waiting > 0 ? `; ${waiting} more wait to be chained` : ''}. keyway audit verify checks all entries.`,
      broken: 'An entry does not match the one before it',
      brokenText: (event: string, at: string) =>
        `${event} of ${at}: it, or an entry before it, was changed in the database. Run keyway audit verify, and compare with a backup.`,
      list: 'Entries',
      event: 'Event',
      who: 'Who',
      keyway: 'Keyway',
      target: 'Target',
      details: 'Details',
      failed: 'Failed',
      since: 'From',
      until: 'To',
      search: 'Search',
      clear: 'Clear',
      none: 'No entries yet',
      noneText: 'Everything that people and Keyway do is recorded here.',
      noneFound: 'Nothing found',
      didLink: 'What they did, in the log',
      doneToPerson: 'What was done to them, in the log',
      doneLink: 'What was done to it, in the log',
      actorFilter: 'Who did it',
      actorHelp: 'name@example.com',
      targetFilter: 'Person or object',
      noneFoundText:
        'No entry is of that: people are found by their whole e-mail address, or by an id.',
      showAll: 'Show all',
    },
    de: {
      title: 'Aktivitätsprotokoll',
      brokenTitle: 'Das Aktivitätsprotokoll wurde verändert',
      lead: (count: string) =>
        `${count} Einträge. Jeder ist mit dem vorigen verkettet, sodass eine nachträgliche Änderung auffällt.`,
      whole: (count: number) =>
        count === 1
          ? 'Der neueste Eintrag passt zu dem davor'
          : `Die neuesten ${count} Einträge passen jeweils zu dem davor`,
      wholeText: (head: string, waiting: number) =>
        `Bis ${head}…${waiting > 0 ? `; ${de(waiting, 'weiterer wird', 'weitere werden')} noch verkettet` : ''}. keyway audit verify prüft alle.`,
      broken: 'Ein Eintrag passt nicht zum vorigen',
      brokenText: (event: string, at: string) =>
        `${event} vom ${at}: Dieser Eintrag oder einer davor wurde in der Datenbank verändert. Führen Sie keyway audit verify aus, und vergleichen Sie mit einer Sicherung.`,
      list: 'Einträge',
      event: 'Ereignis',
      who: 'Wer',
      keyway: 'Keyway',
      target: 'Woran',
      details: 'Einzelheiten',
      failed: 'Fehlgeschlagen',
      since: 'Von',
      until: 'Bis',
      search: 'Suchen',
      clear: 'Zurücksetzen',
      none: 'Noch ist nichts geschehen',
      noneText: 'Alles, was Personen und Keyway tun, wird hier aufgezeichnet.',
      noneFound: 'Nichts gefunden',
      didLink: 'Was die Person getan hat, im Protokoll',
      doneToPerson: 'Was ihr geschah, im Protokoll',
      doneLink: 'Was damit geschah, im Protokoll',
      actorFilter: 'Wer es war',
      actorHelp: 'name@beispiel.de',
      targetFilter: 'Wem oder woran',
      noneFoundText:
        'Kein Eintrag passt dazu: Personen findet man mit ihrer ganzen E-Mail-Adresse oder einer ID.',
      showAll: 'Alle anzeigen',
    },
  }),
} as const
