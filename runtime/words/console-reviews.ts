/** CONSOLE_REVIEWS: the words of the console: launching and ending access reviews. */
import { inBoth } from './say.ts'
import { counting } from './time.ts'

const en = counting('en')
const de = counting('de')

export const CONSOLE_REVIEWS = {
  review_launch: inBoth({
    en: {
      title: 'Launch an access review',
      lead: 'Choose what is reviewed, who reviews it and until when. You see how many lines that is before it begins.',
      notLaunched: 'It was not launched',
      about: 'About it',
      name: 'Name',
      deadline: 'Last day',
      deadlineHelp: 'Until its end, in UTC.',
      type: 'What is reviewed',
      types: { ENTITLEMENTS: 'Permissions of accounts', ACCOUNTS: 'Accounts' },
      reviewers: 'Who decides',
      kinds: {
        MANAGERS: 'The manager of each person',
        APP_ADMINS: 'The admins of the app',
        AS_LAST_TIME: 'The same as last time',
      },
      second: 'Who confirms lines kept despite a red hint',
      noSecond: 'Nobody has to',
      secondKinds: {
        MANAGERS: 'The next manager who did not keep it',
        APP_ADMINS: 'The admins of the app',
      },
      onDeadline: 'Lines undecided by then',
      deadlines: {
        LEAVE: 'stays as it is',
        REMOVE: 'is removed',
        ESCALATE: 'goes to the admins of the app',
      },
      apps: 'Apps',
      find: 'Find apps by name',
      findDo: 'Find',
      foundNothing: 'No other app has that in its name.',
      app: 'App',
      scope: 'Only some lines',
      scopeNote: 'the same for each app; of one kind one has to fit, of several kinds each',
      filter: (at: number) => `filter ${at}`,
      group: 'By',
      anyGroup: 'nothing',
      value: 'Value',
      add: 'Add a filter',
      groupsHelp: 'What each filter keeps',
      noGroup: 'Choose what a filter is by.',
      noValue: 'Give each filter a value of at most 255 characters.',
      noAttribute: 'Write an attribute as name=value.',
      noName: 'Give it a name.',
      noDeadline: 'Choose a last day in the future.',
      noApps: 'Choose at least one app.',
      tooMany: (most: number) =>
        `Choose at most ${most} apps here; more go with POST /access_reviews.`,
      count: 'Count the lines',
      launch: 'Launch it',
      cancel: 'Cancel',
      counted: (lines: string) => `Lines to decide: ${lines}`,
      lines: 'Lines',
      accounts: 'Accounts',
      excluded: 'Filtered out',
      examples: 'Some of the lines',
      done: 'It is launched, and being prepared.',
    },
    de: {
      title: 'Zugriffsüberprüfung starten',
      lead: 'Legen Sie fest, was überprüft wird, von wem und bis wann. Vor dem Start sehen Sie, wie viele Zeilen es sind.',
      notLaunched: 'Nicht gestartet',
      about: 'Allgemeines',
      name: 'Name',
      deadline: 'Letzter Tag',
      deadlineHelp: 'Bis zu seinem Ende, in UTC.',
      type: 'Was überprüft wird',
      types: { ENTITLEMENTS: 'Berechtigungen von Konten', ACCOUNTS: 'Konten' },
      reviewers: 'Wer entscheidet',
      kinds: {
        MANAGERS: 'Die Führungskraft jeder Person',
        APP_ADMINS: 'Die Verwaltung der Anwendung',
        AS_LAST_TIME: 'Dieselben wie beim letzten Mal',
      },
      second: 'Wer bestätigt, was trotz rotem Hinweis behalten wird',
      noSecond: 'Niemand',
      secondKinds: {
        MANAGERS: 'Die nächste Führungskraft, die nicht selbst entschieden hat',
        APP_ADMINS: 'Die Verwaltung der Anwendung',
      },
      onDeadline: 'Was bis dahin niemand entschieden hat',
      deadlines: {
        LEAVE: 'bleibt, wie es ist',
        REMOVE: 'wird entzogen',
        ESCALATE: 'geht an die Verwaltung der Anwendung',
      },
      apps: 'Anwendungen',
      find: 'Anwendungen nach Namen suchen',
      findDo: 'Suchen',
      foundNothing: 'Keine andere Anwendung hat das in ihrem Namen.',
      app: 'Anwendung',
      scope: 'Nur bestimmte Zeilen',
      scopeNote:
        'gleich für jede Anwendung; von Filtern einer Art muss einer passen, von mehreren Arten jede',
      filter: (at: number) => `Filter ${at}`,
      group: 'Nach',
      anyGroup: 'nichts',
      value: 'Wert',
      add: 'Filter hinzufügen',
      groupsHelp: 'Was jeder Filter behält',
      noGroup: 'Wählen Sie, wonach ein Filter auswählt.',
      noValue: 'Geben Sie jedem Filter einen Wert mit höchstens 255 Zeichen.',
      noAttribute: 'Schreiben Sie ein Attribut als Name=Wert.',
      noName: 'Geben Sie der Überprüfung einen Namen.',
      noDeadline: 'Wählen Sie einen letzten Tag in der Zukunft.',
      noApps: 'Wählen Sie mindestens eine Anwendung.',
      tooMany: (most: number) =>
        `Wählen Sie hier höchstens ${most} Anwendungen; mehr gehen mit POST /access_reviews.`,
      count: 'Zeilen zählen',
      launch: 'Starten',
      cancel: 'Abbrechen',
      counted: (lines: string) => `Zu entscheidende Zeilen: ${lines}`,
      lines: 'Zeilen',
      accounts: 'Konten',
      excluded: 'Ausgefiltert',
      examples: 'Einige der Zeilen',
      done: 'Gestartet; sie wird vorbereitet.',
    },
  }),
  review_change: inBoth({
    en: {
      remind: {
        title: 'Remind the reviewers?',
        lead: 'Their tasks show how much is open. People who want reminders by mail get one.',
        button: 'Remind them',
        done: 'They are reminded.',
        line: (tasks: number, lines: number) =>
          `A reminder goes out for ${en(tasks, 'task', 'tasks')} with ${en(lines, 'line', 'lines')} in all`,
      },
      complete: {
        title: 'Complete this review?',
        lead: 'No more decisions can be made. Rejected access is removed, and the removal is checked in the system.',
        button: 'Complete it',
        done: 'It is being completed.',
        rejected: (lines: number) =>
          `${en(lines, 'line', 'lines')} that reviewers rejected: the access is removed`,
        open: (lines: number) =>
          `${en(lines, 'line', 'lines')} that nobody decided: the access stays`,
        line: 'No more decisions: the review ends',
      },
    },
    de: {
      remind: {
        title: 'Die Prüfenden erinnern?',
        lead: 'Ihre Aufgaben zeigen, wie viel offen ist. Wer Erinnerungen per E-Mail wünscht, erhält eine.',
        button: 'Erinnern',
        done: 'Die Prüfenden sind erinnert.',
        line: (tasks: number, lines: number) =>
          `An ${de(tasks, 'Aufgabe', 'Aufgaben')} mit insgesamt ${de(lines, 'Zeile', 'Zeilen')} wird erinnert`,
      },
      complete: {
        title: 'Diese Überprüfung abschließen?',
        lead: 'Danach wird nicht mehr entschieden. Was zu entziehen ist, wird entzogen; das System bestätigt es.',
        button: 'Abschließen',
        done: 'Sie wird abgeschlossen.',
        rejected: (lines: number) =>
          `${de(lines, 'Zeile', 'Zeilen')} abgelehnt: Der Zugang wird entzogen`,
        open: (lines: number) =>
          `${de(lines, 'Zeile', 'Zeilen')} nicht entschieden: Der Zugang bleibt`,
        line: 'Niemand kann mehr entscheiden: Die Überprüfung endet',
      },
    },
  }),
} as const
