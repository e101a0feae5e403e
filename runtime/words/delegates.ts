/** DELEGATE_WORDS: the page on which people name who decides in their place. */
import type { WordTable } from './say.ts'

export const DELEGATE_WORDS = {
  delegates_title: { en: 'Delegates', de: 'Vertretungen' },
  delegates_lead: {
    en: 'While you are away, another person decides on the access requests that wait for you.',
    de: 'Während Sie abwesend sind, entscheidet eine andere Person über die Anfragen, die auf Sie warten.',
  },
  delegate_new: { en: 'Name a delegate', de: 'Eine Vertretung benennen' },
  delegate_person: { en: 'Who decides for you', de: 'Wer für Sie entscheidet' },
  delegate_person_help: {
    en: 'Their address, or their whole name.',
    de: 'Die Adresse oder der ganze Name.',
  },
  delegate_since: { en: 'First day', de: 'Erster Tag' },
  delegate_since_help: {
    en: 'From 00:00 UTC. Without a day: from now on.',
    de: 'Ab 00:00 UTC. Ohne Angabe: ab sofort.',
  },
  delegate_until: { en: 'Last day', de: 'Letzter Tag' },
  delegate_until_help: {
    en: (days: number) => `To the end of the day in UTC; at most ${days} days.`,
    de: (days: number) => `Bis zum Ende des Tages in UTC; höchstens ${days} Tage.`,
  },
  delegate_reason_help: {
    en: 'Both of you, and admins, can read it.',
    de: 'Sie beide und die Verwaltung können sie lesen.',
  },
  delegate_name: { en: 'Name the delegate', de: 'Vertretung benennen' },
  delegate_days: { en: 'Choose a last day.', de: 'Wählen Sie einen letzten Tag.' },
  delegates_yours: { en: 'Who decides for you', de: 'Wer für Sie entscheidet' },
  delegates_yours_none: {
    en: 'You have not named a delegate.',
    de: 'Sie haben niemanden benannt.',
  },
  delegates_of: { en: 'People you decide for', de: 'Für wen Sie entscheiden' },
  delegates_of_none: { en: 'No one has named you as a delegate.', de: 'Niemand hat Sie benannt.' },
  delegates_read_only: {
    en: 'You signed in with a read-only token, so you cannot name delegates here.',
    de: 'Sie sind mit einem Token angemeldet, das nur lesen darf; benennen können Sie hier niemanden.',
  },
  delegate_columns: {
    en: ['Person', 'From', 'Until', 'State'],
    de: ['Person', 'Von', 'Bis', 'Stand'],
  },
  delegate_now: { en: 'Decides now', de: 'Entscheidet jetzt' },
  delegate_later: { en: 'Not yet', de: 'Noch nicht' },
  delegate_ended: { en: 'Ended', de: 'Beendet' },
  delegate_end: { en: 'Withdraw', de: 'Zurückziehen' },
  delegates_not_shown: {
    en: (count: number) => `${count} older ${count === 1 ? 'one is' : 'ones are'} not shown.`,
    de: (count: number) =>
      count === 1 ? 'Eine ältere wird nicht gezeigt.' : `${count} ältere werden nicht gezeigt.`,
  },
  delegate_not_named: { en: 'No delegate was named', de: 'Es wurde niemand benannt' },
  done_delegated: { en: 'The delegate is named.', de: 'Die Vertretung ist benannt.' },
  done_undelegated: { en: 'It is withdrawn.', de: 'Sie ist zurückgezogen.' },
} as const satisfies WordTable
