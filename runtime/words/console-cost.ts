/** CONSOLE_COST: the words of what apps cost, and of break-glass permissions in the console. */
import { inBoth } from './say.ts'
import { counting } from './time.ts'

const en = counting('en')
const de = counting('de')

export const CONSOLE_COST = {
  cost: inBoth({
    en: {
      title: 'What apps cost',
      lead: 'Licences with their seats, unused seats, and the expenses from syncs. Currencies are never added.',
      licences: 'Licences',
      licence: 'Licence',
      app: 'App',
      held: 'Seats held',
      used: (days: number) => `Used in ${en(days, 'day', 'days')}`,
      price: 'Price of a seat',
      idle: 'Not used, in all',
      change: 'Change',
      noPrice: 'Set the price',
      each: { MONTH: 'a month', YEAR: 'a year' },
      unknown: 'unknown',
      noLicences: 'No licences',
      noLicencesText:
        'An entitlement counts as one if its type says so (licence, seat, subscription), or once it has a price.',
      csv: 'As CSV',
      idleSeats: 'Unused seats',
      idleSeatsNote: 'open findings, newest first',
      account: 'Account',
      unusedSince: 'Unused since',
      never: 'never used',
      noIdle: 'No idle seats are known',
      noIdleText: 'They are looked for after each sync, in apps that tell when accounts were used.',
      totals: 'Expenses by month',
      month: 'Month',
      amount: 'Amount',
      count: 'Expenses',
      noAmount: 'no readable amount',
      noExpenses: 'No expenses',
      noExpensesText: 'The connectors of your apps list none, or were not synced since.',
    },
    de: {
      title: 'Was Anwendungen kosten',
      lead: 'Lizenzen mit ihren Plätzen, Plätze, die niemand nutzt, und die Ausgaben aus Abgleichen. Währungen werden nie addiert.',
      licences: 'Lizenzen',
      licence: 'Lizenz',
      app: 'Anwendung',
      held: 'Vergebene Plätze',
      used: (days: number) => `In ${de(days, 'Tag', 'Tagen')} genutzt`,
      price: 'Preis eines Platzes',
      idle: 'Ungenutzt, insgesamt',
      change: 'Ändern',
      noPrice: 'Preis angeben',
      each: { MONTH: 'im Monat', YEAR: 'im Jahr' },
      unknown: 'unbekannt',
      noLicences: 'Keine Lizenzen',
      noLicencesText:
        'Eine Berechtigung zählt dazu, wenn ihre Art es sagt (licence, seat, subscription) oder sie einen Preis hat.',
      csv: 'Als CSV',
      idleSeats: 'Plätze, die niemand nutzt',
      idleSeatsNote: 'offene Feststellungen, neueste zuerst',
      account: 'Konto',
      unusedSince: 'Ungenutzt seit',
      never: 'nie genutzt',
      noIdle: 'Keine ungenutzten Plätze bekannt',
      noIdleText:
        'Gesucht wird nach jedem Abgleich, in Anwendungen, die sagen, wann Konten genutzt wurden.',
      totals: 'Ausgaben nach Monaten',
      month: 'Monat',
      amount: 'Betrag',
      count: 'Ausgaben',
      noAmount: 'kein lesbarer Betrag',
      noExpenses: 'Keine Ausgaben',
      noExpensesText:
        'Die Connectors Ihrer Anwendungen nennen keine, oder es gab noch keinen Abgleich.',
    },
  }),
  cost_change: inBoth({
    en: {
      set: {
        title: 'What does a seat cost?',
        button: 'Save',
        done: 'The price is saved.',
        amount: 'Amount, such as 12.50',
        currency: 'Currency, such as EUR',
        period: 'For',
        line: (label: string, price: string) => `A seat of ${label} costs ${price}`,
      },
      forget: {
        title: 'Forget the price?',
        button: 'Forget it',
        done: 'The price is forgotten.',
        line: (label: string, price: string) => `A seat of ${label} costs ${price} no longer`,
      },
    },
    de: {
      set: {
        title: 'Was kostet ein Platz?',
        button: 'Speichern',
        done: 'Der Preis ist gespeichert.',
        amount: 'Betrag, etwa 12.50',
        currency: 'Währung, etwa EUR',
        period: 'Für',
        line: (label: string, price: string) => `Ein Platz von ${label} kostet ${price}`,
      },
      forget: {
        title: 'Den Preis löschen?',
        button: 'Löschen',
        done: 'Der Preis ist gelöscht.',
        line: (label: string, price: string) => `Ein Platz von ${label} kostet nicht mehr ${price}`,
      },
    },
  }),
  permission: inBoth({
    en: {
      title: 'Permissions',
      lead: 'Permissions that people can request in this app. Members of the named groups can take emergency access at once, for a short time; it is reviewed afterwards.',
      name: 'Permission',
      glass: 'Emergency access',
      action: 'Action',
      mark: 'Make emergency access',
      change: 'Change emergency access',
      unmark: 'End emergency access',
      heldBy: (groups: string, minutes: number) =>
        `${groups}, for ${en(minutes, 'minute', 'minutes')}`,
      none: 'No permissions',
      noneText: 'This app has nothing to request, or nothing with that name.',
      link: 'Permissions and emergency access',
    },
    de: {
      title: 'Berechtigungen',
      lead: 'Was in dieser Anwendung beantragt werden kann. Einen Notfallzugang nehmen sich Mitglieder der genannten Gruppen sofort, für kurze Zeit, und er wird danach geprüft.',
      name: 'Berechtigung',
      glass: 'Notfall',
      action: 'Aktion',
      mark: 'Als Notfallzugang',
      change: 'Ändern',
      unmark: 'Kein Notfallzugang',
      heldBy: (groups: string, minutes: number) =>
        `${groups}, für ${de(minutes, 'Minute', 'Minuten')}`,
      none: 'Keine Berechtigungen',
      noneText: 'In dieser Anwendung kann nichts beantragt werden, oder nichts heißt so.',
      link: 'Berechtigungen und Notfallzugang',
    },
  }),
  glass_change: inBoth({
    en: {
      set: {
        title: 'Who may take it in an emergency?',
        lead: 'Members get it at once. All approvers are told, and one of them has to review each use.',
        button: 'Save',
        done: 'It is emergency access.',
        groups: 'Groups, one name a line',
        minutes: 'Longest time, in minutes',
        line: (label: string, groups: string, minutes: string) =>
          `${label} can be taken by members of ${groups} for at most ${minutes} minutes`,
        noGroup: (name: string) => `There is no group “${name}”, or several are called so`,
      },
      end: {
        title: 'Is it no longer emergency access?',
        button: 'Unmark it',
        done: 'It is no longer emergency access.',
        line: (label: string) => `${label} can be taken in an emergency no longer`,
      },
    },
    de: {
      set: {
        title: 'Wer darf sie im Notfall nehmen?',
        lead: 'Mitglieder erhalten sie sofort. Alle Genehmigenden erfahren es, und eine Person von ihnen muss jede Nutzung prüfen.',
        button: 'Speichern',
        done: 'Es ist ein Notfallzugang.',
        groups: 'Gruppen, ein Name je Zeile',
        minutes: 'Längste Dauer, in Minuten',
        line: (label: string, groups: string, minutes: string) =>
          `${label} können Mitglieder von ${groups} für höchstens ${minutes} Minuten nehmen`,
        noGroup: (name: string) => `Es gibt keine Gruppe „${name}“, oder mehrere heißen so`,
      },
      end: {
        title: 'Nicht mehr für den Notfall?',
        button: 'Aufheben',
        done: 'Es ist kein Notfallzugang mehr.',
        line: (label: string) => `${label} kann im Notfall nicht mehr genommen werden`,
      },
    },
  }),
} as const
