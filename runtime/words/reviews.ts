/** REVIEW_WORDS: access reviews, and the lines that a reviewer decides. */
import type { ReviewStatus } from '../contract/models/access-review.ts'
import { HINTS, type Hint, type ItemState } from '../contract/models/review-item.ts'
import { mapValues } from '../contract/schema/keys.ts'
import type { Language } from './languages.ts'
import { pluralOf } from './time.ts'

type Each<K extends string> = Record<Language, Record<K, string>>

const ENGLISH_HINTS: Record<Hint, string> = mapValues(HINTS, ({ meaning }) => meaning)

const linesOf = (count: number, language: Language): string =>
  language === 'en'
    ? pluralOf(count, 'en', { one: 'line', other: 'lines' })
    : pluralOf(count, 'de', { one: 'Zeile', other: 'Zeilen' })

export const REVIEW_WORDS = {
  review_states: {
    en: {
      SCHEDULED: 'Scheduled',
      SCHEDULED_IN_PREPARATION: 'Being prepared',
      IN_PREPARATION: 'Being prepared',
      IN_PROGRESS: 'Under way',
      COMPLETED: 'Done',
      DELETED: 'Deleted',
      DUPLICATING: 'Being copied',
      DUPLICATING_WAITING_FOR_CONFIRMATION: 'Waits for a confirmation',
    },
    de: {
      SCHEDULED: 'Geplant',
      SCHEDULED_IN_PREPARATION: 'Wird vorbereitet',
      IN_PREPARATION: 'Wird vorbereitet',
      IN_PROGRESS: 'Läuft',
      COMPLETED: 'Abgeschlossen',
      DELETED: 'Gelöscht',
      DUPLICATING: 'Wird kopiert',
      DUPLICATING_WAITING_FOR_CONFIRMATION: 'Wartet auf Bestätigung',
    },
  } satisfies Each<ReviewStatus>,
  item_states: {
    en: {
      OPEN: 'Open',
      TO_CONFIRM: 'Kept, to be confirmed',
      KEPT: 'Kept',
      REJECTED: 'To be removed',
      TO_MODIFY: 'To be changed',
      NOT_DECIDED: 'Not decided',
      VANISHED: 'Gone before',
      REMOVING: 'Being removed',
      REMOVED: 'Removed',
      WAITING_FOR_HANDS: 'Waits to be removed by hand',
      EXCEPTED: 'Excepted',
    },
    de: {
      OPEN: 'Offen',
      TO_CONFIRM: 'Behalten, zu bestätigen',
      KEPT: 'Behalten',
      REJECTED: 'Zu entziehen',
      TO_MODIFY: 'Zu ändern',
      NOT_DECIDED: 'Nicht entschieden',
      VANISHED: 'Schon vorher entfallen',
      REMOVING: 'Wird entzogen',
      REMOVED: 'Entzogen',
      WAITING_FOR_HANDS: 'Wird von Hand entzogen',
      EXCEPTED: 'Ausnahme',
    },
  } satisfies Each<ItemState>,
  hint_meanings: {
    en: ENGLISH_HINTS,
    de: {
      PERSON_TERMINATED: 'die Person ist gesperrt oder ausgeschieden',
      ACCOUNT_UNMATCHED: 'es ist nicht bekannt, wem das Konto gehört',
      NEVER_USED: 'das System meldet Anmeldungen, für dieses Konto aber keine',
      UNUSED_90_DAYS: 'zuletzt vor mehr als 90 Tagen genutzt',
      SEPARATION_BROKEN:
        'die Person hat beide Seiten einer Regel der Funktionstrennung, und dies gehört dazu',
      PRIVILEGED: 'gibt nach Namen oder Art mehr, als andere haben',
      FEW_PEERS:
        'weniger als ein Viertel derer mit derselben Führungskraft oder sonst demselben Titel hat es',
      GIVEN_BY_POLICY: 'durch eine Richtlinie erhalten',
      GIVEN_BY_REQUEST: 'beantragt und genehmigt',
      NOBODY_ASKED: 'vorgefunden; weder eine Anfrage noch eine Richtlinie hat es gegeben',
      NEW_SINCE_LAST_REVIEW: 'bei der letzten Überprüfung der Anwendung noch nicht da',
    },
  } satisfies Each<Hint>,
  reviews_lead: {
    en: 'People decide who keeps what. The rest is removed, and checked in the system.',
    de: 'Personen entscheiden, wer was behält. Der Rest wird entzogen; das System bestätigt es.',
  },
  review: { en: 'Review', de: 'Überprüfung' },
  state: { en: 'State', de: 'Zustand' },
  deadline: { en: 'Deadline', de: 'Frist' },
  launch_review: { en: 'Launch a review', de: 'Überprüfung starten' },
  remind: { en: 'Remind', de: 'Erinnern' },
  complete_review: { en: 'Complete', de: 'Abschließen' },
  evidence: { en: 'Evidence', de: 'Nachweis' },
  no_reviews: { en: 'No access reviews yet', de: 'Noch keine Zugriffsüberprüfungen' },
  no_reviews_text: {
    en: 'A review asks people who keeps what.',
    de: 'Eine Überprüfung fragt, wer was behält.',
  },
  decided: { en: 'Decided', de: 'Entschieden' },
  of_all: { en: (all: string) => `of ${all}`, de: (all: string) => `von ${all}` },
  done: { en: 'Done', de: 'Fortschritt' },
  to_be_removed: { en: 'To be removed', de: 'Zu entziehen' },
  removed: { en: 'Removed', de: 'Entzogen' },
  read_back: { en: 'confirmed by the system', de: 'vom System bestätigt' },
  own_lines: { en: 'The lines that you decide', de: 'Ihre Zeilen' },
  one_review: { en: 'Access review', de: 'Zugriffsüberprüfung' },
  own_review_lead: {
    en: 'Choose lines, or all that a filter shows, and keep them or have them removed.',
    de: 'Wählen Sie Zeilen oder alle, die ein Filter zeigt, und behalten oder entziehen Sie sie.',
  },
  lines_left: {
    en: (count: number) =>
      `${pluralOf(count, 'en', { one: 'line waits', other: 'lines wait' })} for you`,
    de: (count: number) =>
      `${pluralOf(count, 'de', { one: 'Zeile wartet', other: 'Zeilen warten' })} auf Sie`,
  },
  all_lines_decided: {
    en: 'All your lines are decided',
    de: 'Alle Ihre Zeilen sind entschieden',
  },
  no_own_lines: { en: 'You review no lines here', de: 'Hier prüfen Sie keine Zeilen' },
  no_own_lines_text: {
    en: 'This access review has no lines for you. Others decide what is in it.',
    de: 'In dieser Zugriffsüberprüfung gibt es keine Zeilen für Sie. Darüber entscheiden andere.',
  },
  lines: { en: 'Lines', de: 'Zeilen' },
  choose: { en: 'Choose', de: 'Auswählen' },
  choose_page: { en: 'Choose all on this page', de: 'Alle auf dieser Seite auswählen' },
  choose_line: {
    en: (who: string, what: string) => `Choose ${who}: ${what}`,
    de: (who: string, what: string) => `${who} auswählen: ${what}`,
  },
  who: { en: 'Who', de: 'Wer' },
  hints: { en: 'Hints', de: 'Hinweise' },
  peers_have_it: {
    en: (held: string, all: string) => `${held} of ${all} peers have it`,
    de: (held: string, all: string) => `${held} von ${all} im Team haben es`,
  },
  held_since: { en: 'Since', de: 'Seit' },
  find_line: { en: 'Account, address or permission', de: 'Konto, Adresse oder Berechtigung' },
  any: { en: 'Any', de: 'Alle' },
  show: { en: 'Show', de: 'Anzeigen' },
  account_itself: { en: 'The account itself', de: 'Das Konto selbst' },
  no_lines: { en: 'No lines', de: 'Keine Zeilen' },
  no_lines_text: {
    en: 'No line matches the filter.',
    de: 'Keine Zeile passt zu Ihrer Auswahl.',
  },
  no_lines_yet: {
    en: 'Lines appear here once each app has been completely synced. Reload this page in a moment.',
    de: 'Zeilen erscheinen hier, sobald der vollständige Abgleich jeder App da ist. Laden Sie diese Seite gleich noch einmal.',
  },
  all_lines: {
    en: (total: number) =>
      `All ${pluralOf(total, 'en', { one: 'line', other: 'lines' })} that the filter shows, if open`,
    de: (total: number) => `Alles, was der Filter zeigt (${total}), soweit noch offen`,
  },
  line_reason_help: {
    en: 'Reason (to remove, for a red hint, or for more than 20 lines)',
    de: 'Begründung (beim Entziehen, bei einem roten Hinweis oder mehr als 20 Zeilen)',
  },
  keep_lines: { en: 'Keep', de: 'Behalten' },
  remove_lines: { en: 'Remove', de: 'Entziehen' },
  attach_file: { en: 'Attach a file', de: 'Datei anhängen' },
  attach_file_to: {
    en: (who: string, what: string) => `Attach a file to ${who}: ${what}`,
    de: (who: string, what: string) => `Datei anhängen an ${who}: ${what}`,
  },
  file_to_attach: { en: 'File', de: 'Datei' },
  attach_help: {
    en: (most: string) =>
      `Such as a ticket or a picture of a screen, up to ${most}. It becomes part of the signed evidence and cannot be taken back.`,
    de: (most: string) =>
      `Zum Beispiel ein Ticket oder ein Bildschirmfoto, bis zu ${most}. Sie wird Teil des signierten Nachweises und lässt sich nicht zurücknehmen.`,
  },
  back_to_lines: { en: 'Back to the lines', de: 'Zurück zu den Zeilen' },
  file_not_attached: { en: 'It was not attached', de: 'Sie wurde nicht angehängt' },
  no_file_chosen: {
    en: 'Choose a file that is not empty.',
    de: 'Wählen Sie eine Datei, die nicht leer ist.',
  },
  file_too_large: {
    en: (size: string, most: string) => `The file has ${size}; ${most} is the most.`,
    de: (size: string, most: string) => `Die Datei hat ${size}; höchstens ${most} sind möglich.`,
  },
  file_attached: {
    en: 'The file is attached to the line.',
    de: 'Die Datei ist an die Zeile angehängt.',
  },
  nothing_decided: { en: 'Nothing was decided', de: 'Es wurde nichts entschieden' },
  choose_lines_first: {
    en: 'Choose some lines first, or all that the filter shows.',
    de: 'Wählen Sie zuerst Zeilen aus, oder alle, die der Filter zeigt.',
  },
  say_why_lines: {
    en: 'Say why: a reason is needed to remove lines, to keep one with a red hint, and for more than 20 lines at once.',
    de: 'Bitte begründen: beim Entziehen, bei einem roten Hinweis und bei mehr als 20 Zeilen auf einmal.',
  },
  lines_decided: {
    en: {
      KEEP: (n: number) => `${linesOf(n, 'en')}: kept`,
      REJECT: (n: number) => `${linesOf(n, 'en')}: to be removed when the review ends`,
      MODIFY: (n: number) => `${linesOf(n, 'en')}: to be changed`,
    },
    de: {
      KEEP: (n: number) => `${linesOf(n, 'de')}: behalten`,
      REJECT: (n: number) => `${linesOf(n, 'de')}: zu entziehen, wenn die Überprüfung endet`,
      MODIFY: (n: number) => `${linesOf(n, 'de')}: zu ändern`,
    },
  },
  lines_changed: {
    en: (n: number) => `${n} of them ${n === 1 ? 'was' : 'were'} decided otherwise before`,
    de: (n: number) => `davon ${n} bisher anders entschieden`,
  },
  lines_before: {
    en: (n: number) =>
      `${n} ${n === 1 ? 'was decided before and stays' : 'were decided before and stay'}`,
    de: (n: number) =>
      `${n} ${n === 1 ? 'war schon entschieden und bleibt' : 'waren schon entschieden und bleiben'}`,
  },
  lines_same: {
    en: (n: number) => `${n} already had this decision`,
    de: (n: number) => `${n} ${n === 1 ? 'war' : 'waren'} schon so entschieden`,
  },
  lines_ended: {
    en: (n: number) => `${n} can no longer be decided by you`,
    de: (n: number) => `über ${n} können Sie nicht mehr entscheiden`,
  },
  lines_saved: { en: 'It is decided.', de: 'Entschieden.' },
} as const
