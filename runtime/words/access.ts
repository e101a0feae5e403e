/** ACCESS_WORDS: My access, and one request. What stands in the text as a link or a time comes as `Insert`. */
import { html } from 'hono/html'
import { CATEGORIES, type Category } from '../contract/models/categories.ts'
import { tableOf } from '../contract/schema/keys.ts'
import { pluralOf } from './time.ts'

export type Insert = string | ReturnType<typeof html>
/** Makes a link of its words. */
export type Link = (words: string) => Insert

const ENGLISH_CATEGORIES: Record<Category, string> = tableOf(
  CATEGORIES.map((one) => [one, one] as const),
)

export const ACCESS_WORDS = {
  category: { en: 'Category', de: 'Kategorie' },
  all_categories: { en: 'All', de: 'Alle' },
  categories: {
    en: ENGLISH_CATEGORIES,
    de: {
      'Accounting & Finance': 'Buchhaltung & Finanzen',
      'Marketing & Analytics': 'Marketing & Analyse',
      'Content & Social Media': 'Inhalte & soziale Medien',
      'Sales & Support': 'Vertrieb & Support',
      'Design & Creativity': 'Design & Kreativität',
      'IT & Security': 'IT & Sicherheit',
      Developers: 'Entwicklung',
      'HR & Learning': 'Personal & Weiterbildung',
      'Office & Legal': 'Büro & Recht',
      Communication: 'Kommunikation',
      Collaboration: 'Zusammenarbeit',
      'Commerce & Marketplaces': 'Handel & Marktplätze',
      Other: 'Sonstiges',
      Internal: 'Intern',
    } satisfies Record<Category, string>,
  },
  access_lead: {
    en: 'What you have, until when, and what you are waiting for.',
    de: 'Was Sie haben, bis wann, und worauf Sie warten.',
  },
  request_access: { en: 'Request access', de: 'Zugang beantragen' },
  ends_soon: {
    en: (thing: string, place: string) => `“${thing}” of ${place} ends soon`,
    de: (thing: string, place: string) => `„${thing}“ in ${place} endet bald`,
  },
  ends_soon_text: {
    en: (day: Insert, link: Insert | null) =>
      html`On ${day}. If you still need it: ${link ?? 'ask for it again'}.`,
    de: (day: Insert, link: Insert | null) =>
      html`Am ${day}. Wenn Sie es noch brauchen: ${link ?? 'neue Anfrage stellen'}.`,
  },
  what_you_have: { en: 'What you have', de: 'Was Sie haben' },
  not_by_keyway: { en: 'Not given by Keyway', de: 'Nicht durch Keyway vergeben' },
  nothing_yet: { en: 'Nothing yet', de: 'Noch nichts' },
  nothing_yet_text: {
    en: (link: Link) =>
      html`What you are given appears here, with why you have it and until when. ${link('See what you can request')}.`,
    de: (link: Link) =>
      html`Was Sie erhalten, erscheint hier, mit dem Grund und dem Ende. ${link('Sehen Sie, was Sie beantragen können')}.`,
  },
  of_have: { en: 'what you have', de: 'Was Sie haben' },
  withdraw: { en: 'Withdraw', de: 'Zurückziehen' },
  withdraw_question: {
    en: (thing: string) => `Withdraw the request for “${thing}”?`,
    de: (thing: string) => `Die Anfrage nach „${thing}“ zurückziehen?`,
  },
  withdraw_text: {
    en: 'No decision is needed any more. You can ask again at any time.',
    de: 'Dann muss niemand mehr darüber entscheiden. Sie können jederzeit eine neue Anfrage stellen.',
  },
  remind_approvers: { en: 'Remind who decides', de: 'An die Entscheidung erinnern' },
  remind_word: { en: 'A word for them', de: 'Ein Satz dazu' },
  remind_help: {
    en: 'They get a mail, at most once a day.',
    de: 'Wer entscheidet, erhält eine E-Mail, höchstens einmal am Tag.',
  },
  remind_do: { en: 'Remind', de: 'Erinnern' },
  remind_default: {
    en: 'I am still waiting for this.',
    de: 'Ich warte noch darauf.',
  },
  done_reminded: { en: 'They are reminded.', de: 'Die Erinnerung ist gesendet.' },
  go_on_waiting: { en: 'Go on waiting', de: 'Weiter warten' },
  why: { en: 'Why', de: 'Warum' },
  what_you_wait_for: { en: 'What you are waiting for', de: 'Worauf Sie warten' },
  waiting_none: {
    en: 'Nothing. What you ask for appears here, with who decides and since when.',
    de: 'Auf nichts. Was Sie beantragen, erscheint hier: wer entscheidet, und seit wann.',
  },
  permissions_of_app: {
    en: (count: number) => pluralOf(count, 'en', { one: 'permission', other: 'permissions' }),
    de: (count: number) => pluralOf(count, 'de', { one: 'Berechtigung', other: 'Berechtigungen' }),
  },
  you_have_of_app: {
    en: (count: number) => `You have ${count}`,
    de: (count: number) => `Sie haben ${count}`,
  },
  older_requests: {
    en: (count: number) =>
      `${pluralOf(count, 'en', { one: 'older request', other: 'older requests' })} not shown.`,
    de: (count: number) =>
      `${pluralOf(count, 'de', { one: 'ältere Anfrage', other: 'ältere Anfragen' })} nicht gezeigt.`,
  },
  refused_lately: { en: 'Not granted lately', de: 'Zuletzt nicht genehmigt' },
  ask_again: { en: 'Ask again', de: 'Erneut beantragen' },
  ended_requests: { en: 'Requests that have ended', de: 'Beendete Anfragen' },
  column_what: { en: 'What', de: 'Was' },
  column_how: { en: 'How it ended', de: 'Wie er endete' },
  asked_on: {
    en: (day: Insert) => html`asked ${day}`,
    de: (day: Insert) => html`angefragt am ${day}`,
  },
  quoted: { en: (text: string) => `“${text}”`, de: (text: string) => `„${text}“` },
  what_you_can_request: { en: 'What you can request', de: 'Was Sie beantragen können' },
  apps: { en: 'Apps', de: 'Anwendungen' },
  of_apps: { en: 'apps', de: 'Anwendungen' },
  app: { en: 'App', de: 'Anwendung' },
  app_or_permission: { en: 'App or permission', de: 'Anwendung oder Berechtigung' },
  for_example: { en: 'For example: reports', de: 'Zum Beispiel: Berichte' },
  search: { en: 'Search', de: 'Suchen' },
  clear: { en: 'Clear', de: 'Leeren' },
  store_empty: { en: 'Nothing can be requested yet', de: 'Noch lässt sich nichts beantragen' },
  store_empty_text: {
    en: 'Admins put apps into the store. Apps that you can request appear here.',
    de: 'Administratoren stellen Anwendungen bereit. Was es für Sie gibt, erscheint hier.',
  },
  nothing_found: { en: 'Nothing found', de: 'Nichts gefunden' },
  nothing_found_text: {
    en: (link: Link) => html`No app matches your search. ${link('Show all apps')}.`,
    de: (link: Link) =>
      html`Keine Anwendung passt zu Ihrer Suche. ${link('Alle Anwendungen zeigen')}.`,
  },
  account: { en: 'Account', de: 'Konto' },
  group: { en: 'Group', de: 'Gruppe' },
  permission: { en: 'Permission', de: 'Berechtigung' },
  access: { en: 'Access', de: 'Zugang' },
  directory: { en: 'Directory', de: 'Verzeichnis' },
  given_by_policy: {
    en: (name: string | null) => `Given by policy “${name ?? 'deleted since'}”`,
    de: (name: string | null) => `Durch die Richtlinie „${name ?? 'seither gelöscht'}“ erhalten`,
  },
  you_are_a_member: { en: 'You are a member', de: 'Sie sind Mitglied' },
  found_in: {
    en: (app: string | null) =>
      `Given in ${app ?? 'the app'} itself, not by Keyway; only ${app ?? 'the app'} can take it back`,
    de: (app: string | null) =>
      `In ${app ?? 'der Anwendung'} selbst vergeben, nicht durch Keyway; nur dort kann es entzogen werden`,
  },
  requested_and: {
    en: (day: Insert | null, how: string) =>
      html`Requested${day === null ? '' : html` ${day}`}, ${how}`,
    de: (day: Insert | null, how: string) =>
      html`Beantragt${day === null ? '' : html` am ${day}`}, ${how}`,
  },
  approved_by: {
    en: (names: string) => `approved by ${names}`,
    de: (names: string) => `genehmigt von ${names}`,
  },
  pre_approved: { en: 'pre-approved', de: 'im Voraus genehmigt' },
  leaves_given_back: { en: 'You gave it back', de: 'Sie haben es zurückgegeben' },
  leaves_time_over: { en: 'Its time is up', de: 'Die Zeit ist vorbei' },
  leaves_no_reason: {
    en: 'The reason for it no longer applies',
    de: 'Der Grund dafür ist entfallen',
  },
  leaves_by_keyway: {
    en: (why: string) => `${why}; Keyway removes it`,
    de: (why: string) => `${why}; Keyway entzieht es`,
  },
  leaves_by_hand: {
    en: (why: string, who: string, since: Insert) =>
      html`${why}; ${who} removes it by hand, asked ${since}`,
    de: (why: string, who: string, since: Insert) =>
      html`${why}; ${who} entzieht es von Hand, Auftrag von ${since}`,
  },
  no_end: { en: 'No end', de: 'Unbefristet' },
  left: {
    en: (length: string) => `${length} left`,
    de: (length: string) => `noch ${length}`,
  },
  ends: {
    en: (day: Insert) => html`Ends ${day}`,
    de: (day: Insert) => html`Endet ${day}`,
  },
  of_thing: {
    en: (thing: string, place: string) => ` ${thing} of ${place}`,
    de: (thing: string, place: string) => `: ${thing} in ${place}`,
  },
  ask_to_extend: { en: 'Ask to extend', de: 'Mehr Zeit beantragen' },
  give_back: { en: 'Give back', de: 'Zurückgeben' },
  cannot_give_back: {
    en: 'Cannot be given back here',
    de: 'Kann hier nicht zurückgegeben werden',
  },
  give_back_question: {
    en: (thing: string, place: string) => `Give back “${thing}” of ${place}?`,
    de: (thing: string, place: string) => `„${thing}“ in ${place} zurückgeben?`,
  },
  give_back_text: {
    en: 'The access is removed. If a person does that by hand, it works until then. A request for more time is withdrawn. To get the access again, ask again.',
    de: 'Es wird Ihnen entzogen. Wo eine Person das von Hand tut, funktioniert es bis dahin. Eine Anfrage nach mehr Zeit wird zurückgezogen. Um es wiederzubekommen, müssen Sie es erneut beantragen.',
  },
  revoke_access: { en: 'Revoke', de: 'Widerrufen' },
  revoke_by_policy: {
    en: 'To revoke it, change who the policy is for, or what it gives.',
    de: 'Um es zu widerrufen, ändern Sie, für wen die Richtlinie gilt oder was sie gibt.',
  },
  revoked: { en: 'Revoked', de: 'Widerrufen' },
  done_revoked: {
    en: 'It is revoked. Below is how far it is.',
    de: 'Der Zugang ist widerrufen. Unten steht, wie weit der Entzug ist.',
  },
  keep_it: { en: 'Keep it', de: 'Behalten' },
  request: { en: 'Request', de: 'Anfrage' },
  for_whom: { en: (name: string) => `For ${name}.`, de: (name: string) => `Für ${name}.` },
  thing_in: {
    en: (thing: string, app: string) => `${thing} in ${app}`,
    de: (thing: string, app: string) => `${thing} in ${app}`,
  },
  asked_for: {
    en: (length: string) => `Asked ${length}.`,
    de: (length: string) => `Beantragt ${length}.`,
  },
  what_happens: { en: 'What happens', de: 'Was geschieht' },
  done_asked: { en: 'Your request is sent.', de: 'Ihre Anfrage ist gesendet.' },
  done_withdrawn: { en: 'Your request is withdrawn.', de: 'Ihre Anfrage ist zurückgezogen.' },
  done_given_back: {
    en: 'You gave it back. Below is who removes it.',
    de: 'Sie haben es zurückgegeben. Unten steht, wer es entzieht.',
  },
} as const
