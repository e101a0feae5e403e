/** INBOX_WORDS: the inbox, and one task of it. */
import { html } from 'hono/html'
import type { Insert } from './access.ts'
import { pluralOf } from './time.ts'

export const INBOX_WORDS = {
  keyboard: { en: 'Keyboard', de: 'Tastatur' },
  of_tasks: { en: 'tasks', de: 'Aufgaben' },
  by_hand: { en: 'By hand', de: 'Von Hand' },
  failed: { en: 'Failed', de: 'Fehlgeschlagen' },
  choose_task: { en: 'Choose a task', de: 'Wählen Sie eine Aufgabe' },
  choose_task_text: {
    en: (total: number, waited: Insert) => html`The oldest of ${total} has waited for ${waited}.`,
    de: (total: number, waited: Insert) => html`Die älteste von ${total} wartet seit ${waited}.`,
  },
  choose_task_keys: {
    en: (key: (name: string) => Insert) =>
      html`Go through them with ${key('j')} and ${key('k')}, open one with ${key('Enter')}.`,
    de: (key: (name: string) => Insert) =>
      html`Mit ${key('j')} und ${key('k')} gehen Sie durch die Liste, mit ${key('Enter')} öffnen Sie eine.`,
  },
  nothing_waits: { en: 'Nothing waits for you', de: 'Nichts wartet auf Sie' },
  nothing_waits_text: {
    en: 'What you have to decide, or to do by hand, appears here.',
    de: 'Was Sie zu entscheiden oder von Hand zu tun haben, erscheint hier.',
  },
  key_next: { en: 'next and previous task', de: 'nächste und vorige Aufgabe' },
  key_open: { en: 'open it', de: 'sie öffnen' },
  key_first: {
    en: 'go to the first button; Enter presses it',
    de: 'zum ersten Knopf gehen; Enter drückt ihn',
  },
  key_no: { en: 'go to the one that says no', de: 'zum Knopf für die Ablehnung gehen' },
  key_reason: { en: 'write a reason', de: 'eine Begründung schreiben' },
  key_search: { en: 'search', de: 'suchen' },
  key_note: { en: 'No single key decides.', de: 'Keine einzelne Taste entscheidet.' },
  key_off: { en: 'Turn single keys off', de: 'Einzelne Tasten ausschalten' },
  close: { en: 'Close', de: 'Schließen' },
  all_tasks: { en: 'All tasks', de: 'Alle Aufgaben' },
  decide_lines: { en: 'Decide the lines', de: 'Über die Zeilen entscheiden' },
  what_to_do: { en: 'What is to be done', de: 'Was zu tun ist' },
  give_line: {
    en: (what: string) => `Give ${what}`,
    de: (what: string) => `Einrichten: ${what}`,
  },
  take_line: {
    en: (what: string) => `Take back ${what}`,
    de: (what: string) => `Entziehen: ${what}`,
  },
  give_by_hand: {
    en: (what: string, who: string, done: string) =>
      `Give ${what} to ${who}, then press “${done}”.`,
    de: (what: string, who: string, done: string) =>
      `Geben Sie ${who} Folgendes: ${what}. Drücken Sie dann „${done}“.`,
  },
  take_by_hand: {
    en: (what: string, who: string, done: string) =>
      `Take ${what} from ${who}, then press “${done}”.`,
    de: (what: string, who: string, done: string) =>
      `Entziehen Sie ${who} Folgendes: ${what}. Drücken Sie dann „${done}“.`,
  },
  extend_by_hand: {
    en: (what: string, who: string, until: Insert, length: string, done: string) =>
      html`${who} has ${what} already, ${until}. Now it is to stay ${length}, from today. Set a later end where there is one, then press “${done}”.`,
    de: (what: string, who: string, until: Insert, length: string, done: string) =>
      html`${who} hat schon ${what}, ${until}. Von heute an soll es ${length} bleiben. Setzen Sie ein späteres Ende, wo es eines gibt, und drücken Sie dann „${done}“.`,
  },
  thing_for: {
    en: (what: string, who: string) => `${what} for ${who}`,
    de: (what: string, who: string) => `${what} für ${who}`,
  },
  done_with: {
    en: (done: string, what: string) => `${done.replace(/\.$/, '')}: ${what}.`,
    de: (done: string, what: string) => `${done.replace(/\.$/, '')}: ${what}.`,
  },
  done_next: { en: 'Next:', de: 'Als Nächstes:' },
  done_next_by_hand: {
    en: 'Now give it by hand:',
    de: 'Richten Sie es jetzt von Hand ein:',
  },
  over_already: {
    en: 'The task is over already: the page shows how it ended.',
    de: 'Die Aufgabe ist schon erledigt: Die Seite zeigt, wie sie ausging.',
  },
  not_done: { en: 'Nothing was done', de: 'Es wurde nichts getan' },
  asks_for: {
    en: (who: string, what: Insert, app: Insert, target: Insert | null, length: Insert) =>
      html`${who} asks for ${what} in ${app}${target === null ? '' : html` for ${target}`} ${length}`,
    de: (who: string, what: Insert, app: Insert, target: Insert | null, length: Insert) =>
      html`${who} beantragt ${what} in ${app}${target === null ? '' : html` für ${target}`} ${length}`,
  },
  some_policy: { en: 'An access policy', de: 'Eine Richtlinie' },
  plain_access: { en: 'access', de: 'Zugang' },
  an_app: { en: 'an app', de: 'einer Anwendung' },
  asked_ago: {
    en: (ago: Insert) => html`Asked ${ago}`,
    de: (ago: Insert) => html`Angefragt ${ago}`,
  },
  manager: {
    en: (name: string) => `manager: ${name}`,
    de: (name: string) => `Führungskraft: ${name}`,
  },
  not_decided_by: {
    en: (day: Insert) => html`not decided by ${day}: the request ends`,
    de: (day: Insert) => html`ohne Entscheidung bis ${day} endet die Anfrage`,
  },
  request_has_ended: { en: 'The request has ended.', de: 'Die Anfrage ist beendet.' },
  settled_yes: {
    en: (who: string) => `${who} settled this with yes`,
    de: (who: string) => `${who} hat zugestimmt`,
  },
  settled_no: {
    en: (who: string) => `${who} settled this with no`,
    de: (who: string) => `${who} hat abgelehnt`,
  },
  settled: {
    en: (who: string) => `${who} settled this`,
    de: (who: string) => `${who} hat dies erledigt`,
  },
  settled_text: {
    en: (ago: Insert) => html`${ago}. Nothing is left to do.`,
    de: (ago: Insert) => html`Das war ${ago}. Es ist nichts mehr zu tun.`,
  },
  grounds: { en: 'Grounds', de: 'Entscheidungsgrundlagen' },
  grounds_lead: {
    en: 'Facts, not advice. You decide.',
    de: 'Fakten, keine Empfehlung. Sie entscheiden.',
  },
  grounds_decided: {
    en: 'Facts. It is already decided.',
    de: 'Fakten. Darüber ist schon entschieden.',
  },
  an_account: { en: 'an account', de: 'ein Konto' },
  breaks: {
    en: (rule: string) => `Breaks “${rule}”`,
    de: (rule: string) => `Verstößt gegen „${rule}“`,
  },
  together_with: {
    en: (things: string) => `Together with ${things}.`,
    de: (things: string) => `Zusammen mit ${things}.`,
  },
  needs_exception: {
    en: 'It needs an exception, which the last decision is about.',
    de: 'Dafür ist eine Ausnahme nötig; um sie geht es in der letzten Entscheidung.',
  },
  nobody_both: { en: 'No one should hold both.', de: 'Niemand soll beides haben.' },
  no_peers: {
    en: 'No one else has the same manager',
    de: 'Niemand sonst hat dieselbe Führungskraft',
  },
  peers: {
    en: (holding: number, count: number, what: string) =>
      `${holding} of ${count} others with the same manager ${holding === 1 ? 'has' : 'have'} ${what}`,
    de: (holding: number, count: number, what: string) =>
      `${holding} von ${count} anderen mit derselben Führungskraft ${holding === 1 ? 'hat' : 'haben'} ${what}`,
  },
  had_before: {
    en: (count: number) =>
      `Had it ${pluralOf(count, 'en', { one: 'time', other: 'times' })} before`,
    de: (count: number) => `Hatte es schon ${count}-mal`,
  },
  last_from_to: {
    en: (from: Insert, to: Insert) => html`Last from ${from} to ${to}.`,
    de: (from: Insert, to: Insert) => html`Zuletzt von ${from} bis ${to}.`,
  },
  was_revoked: {
    en: (why: string | null) => `It was revoked${why === null ? '.' : `: “${why}”`}`,
    de: (why: string | null) => `Der Zugang wurde widerrufen${why === null ? '.' : `: „${why}“`}`,
  },
  has_it_now: {
    en: (until: Insert, length: string) => html`Has it now, ${until}; asks for it again, ${length}`,
    de: (until: Insert, length: string) =>
      html`Hat es jetzt, ${until}; beantragt es erneut, ${length}`,
  },
  has_it: { en: 'Has it at present', de: 'Hat es gegenwärtig' },
  not_before: { en: 'Has not had it before', de: 'Hatte es noch nie' },
  has_nothing: {
    en: (app: string | null) => `Has nothing in ${app ?? 'this app'} now`,
    de: (app: string | null) => `Hat jetzt nichts in ${app ?? 'dieser Anwendung'}`,
  },
  has_things: {
    en: (count: number, app: string | null) =>
      `Has ${pluralOf(count, 'en', { one: 'thing', other: 'things' })} in ${app ?? 'this app'} now`,
    de: (count: number, app: string | null) =>
      `Hat jetzt ${pluralOf(count, 'de', { one: 'Sache', other: 'Sachen' })} in ${app ?? 'dieser Anwendung'}`,
  },
  the_account: {
    en: (id: string) => `the account ${id}`,
    de: (id: string) => `das Konto ${id}`,
  },
  comments: {
    en: (count: number) => `Comments (${count})`,
    de: (count: number) => `Kommentare (${count})`,
  },
  comment: { en: 'Comment', de: 'Kommentar' },
  comment_help: {
    en: 'Those who may decide read it. It decides nothing.',
    de: 'Wer hier entscheiden darf, liest ihn. Er entscheidet nichts.',
  },
  write_comment: { en: 'Write a comment', de: 'Kommentar schreiben' },
  say_something: { en: 'Write the comment first.', de: 'Schreiben Sie zuerst den Kommentar.' },
  done_commented: { en: 'Your comment was added.', de: 'Ihr Kommentar ist gespeichert.' },
  give_to_other: { en: 'Give it to another person', de: 'An eine andere Person übergeben' },
  other_person: { en: 'Address or whole name', de: 'Adresse oder vollständiger Name' },
  other_person_help: {
    en: 'They decide in place of those who were asked, and get a mail.',
    de: 'Sie entscheidet anstelle der bisher Gefragten und erhält eine E-Mail.',
  },
  give_task: { en: 'Give it', de: 'Übergeben' },
  nobody_known: {
    en: 'No person matches that. Enter the address of one person.',
    de: 'So ist niemand bekannt. Schreiben Sie die Adresse einer Person.',
  },
  done_reassigned: { en: 'The task is given to them.', de: 'Die Aufgabe ist übergeben.' },
  may_read: { en: 'You may read this task', de: 'Sie dürfen diese Aufgabe lesen' },
  may_read_text: {
    en: 'It is not assigned to you, so you cannot act on it.',
    de: 'Sie ist Ihnen nicht zugewiesen, deshalb können Sie hier nichts tun.',
  },
  reason: { en: 'Reason', de: 'Begründung' },
  required: { en: '(required)', de: '(nötig)' },
  required_for_decline: {
    en: '(required if it will not be done)',
    de: '(nötig, wenn es nicht erledigt wird)',
  },
  reason_readers: {
    en: 'Who asked reads the reason of a no. Those who decide after you read it, too.',
    de: 'Wer angefragt hat, liest die Begründung einer Ablehnung. Wer nach Ihnen entscheidet, liest sie auch.',
  },
  thing_long: {
    en: (what: string, length: string) => `${what}, ${length},`,
    de: (what: string, length: string) => `${what}, ${length}`,
  },
  required_for_no: { en: '(required for a no)', de: '(nötig, wenn Sie ablehnen)' },
  say_why: {
    en: 'Say why: the person who asked reads it.',
    de: 'Schreiben Sie, warum: Die Person, die die Anfrage gestellt hat, liest es.',
  },
  action_hints: {
    en: {
      confirm: 'You have done it. The task closes.',
      decline: 'It will not be done. The requester sees your reason.',
      complete: 'You have put it right. The task closes.',
      dismiss: 'There was nothing to put right. The task closes.',
      retry: 'Keyway tries again what failed.',
      accept: 'Others see that you work on it. It stays open.',
      release: 'Others can take it again.',
      unblock: 'It waits no longer.',
      reopen: 'It was settled too early.',
    },
    de: {
      confirm: 'Sie haben es getan. Die Aufgabe ist damit beendet.',
      decline: 'Niemand tut es. Wer angefragt hat, liest Ihre Begründung.',
      complete: 'Sie haben es in Ordnung gebracht. Die Aufgabe ist damit beendet.',
      dismiss: 'Es war nichts in Ordnung zu bringen. Die Aufgabe ist damit beendet.',
      retry: 'Keyway versucht erneut, was fehlgeschlagen ist.',
      accept: 'Andere sehen, dass Sie daran arbeiten. Die Aufgabe bleibt offen.',
      release: 'Andere können sie wieder übernehmen.',
      unblock: 'Es wartet nicht länger.',
      reopen: 'Es wurde zu früh erledigt.',
    },
  },
  actions: {
    en: {
      approve: ['Approve', 'Approved.'],
      deny: ['Deny', 'Denied.'],
      confirm: ['It is done', 'Noted as done.'],
      decline: ['It will not be done', 'Declined.'],
      complete: ['It is settled', 'Settled.'],
      dismiss: ['Nothing to do', 'Dismissed.'],
      retry: ['Try again now', 'Keyway tries again.'],
      accept: ['I do it', 'The task is yours.'],
      release: ['I do not do it', 'The task is free again.'],
      unblock: ['It may continue', 'It continues.'],
      reopen: ['Open it again', 'Open again.'],
    },
    de: {
      approve: ['Genehmigen', 'Genehmigt.'],
      deny: ['Ablehnen', 'Abgelehnt.'],
      confirm: ['Es ist erledigt', 'Als erledigt vermerkt.'],
      decline: ['Es wird nicht erledigt', 'Abgelehnt.'],
      complete: ['Es ist geklärt', 'Geklärt.'],
      dismiss: ['Nichts zu tun', 'Verworfen.'],
      retry: ['Jetzt erneut versuchen', 'Keyway versucht es erneut.'],
      accept: ['Ich übernehme es', 'Sie haben die Aufgabe übernommen.'],
      release: ['Wieder abgeben', 'Die Aufgabe ist wieder frei.'],
      unblock: ['Fortfahren lassen', 'Es geht weiter.'],
      reopen: ['Wieder öffnen', 'Wieder geöffnet.'],
    },
  },
} as const
