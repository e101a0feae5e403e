/** ASKING_WORDS: asking for access, and the steps of a request. */
import { html } from 'hono/html'
import type { Insert } from './access.ts'
import { pluralOf } from './time.ts'

export const ASKING_WORDS = {
  catalogue: { en: 'Store', de: 'Katalog' },
  request_access_to: {
    en: (app: string) => `Request access to ${app}`,
    de: (app: string) => `Zugang zu ${app} beantragen`,
  },
  extend_access_to: {
    en: (app: string) => `Extend access to ${app}`,
    de: (app: string) => `Zugang zu ${app} verlängern`,
  },
  have_until: {
    en: (end: Insert) => html`You have it until ${end}.`,
    de: (end: Insert) => html`Sie haben es bis ${end}.`,
  },
  have_for_good: { en: 'You have it without an end.', de: 'Sie haben es unbefristet.' },
  ends_later_only: {
    en: 'Only lengths that end later are offered.',
    de: 'Zur Wahl steht nur, was später endet.',
  },
  nothing_ends_later: {
    en: (from: Insert) =>
      html`No available duration would end later yet. You can extend it from ${from} on.`,
    de: (from: Insert) =>
      html`Noch würde keine mögliche Dauer später enden. Verlängern können Sie ab ${from}.`,
  },
  nothing_to_extend: {
    en: 'There is nothing to extend.',
    de: 'Es gibt nichts zu verlängern.',
  },
  choose_longer: {
    en: 'What you chose would end no later. Choose a longer time.',
    de: 'Was Sie gewählt haben, würde nicht später enden. Wählen Sie eine längere Dauer.',
  },
  refused_before: {
    en: 'Your request was not granted',
    de: 'Ihre Anfrage wurde nicht genehmigt',
  },
  if_given: {
    en: (end: Insert, isNear: boolean) => html`if given ${isNear ? 'now' : 'today'}, until ${end}`,
    de: (end: Insert, isNear: boolean) =>
      html`wenn es ${isNear ? 'jetzt' : 'heute'} eingerichtet wird, bis ${end}`,
  },
  error_request: {
    en: (app: string) => `Error: request access to ${app}`,
    de: (app: string) => `Fehler: Zugang zu ${app} beantragen`,
  },
  from_admins: { en: 'From the app’s admins', de: 'Von den Administratoren der Anwendung' },
  what_do_you_need: { en: 'What do you need?', de: 'Was brauchen Sie?' },
  you_have_it: { en: 'You have it', de: 'Das haben Sie' },
  only_an_account: { en: 'Only an account', de: 'Nur ein Konto' },
  of_permissions: { en: 'permissions', de: 'Berechtigungen' },
  what: { en: 'What', de: 'Was' },
  access_to_the_app: { en: 'Access to the app', de: 'Zugang zur Anwendung' },
  choose_else: { en: 'Choose something else', de: 'Etwas anderes wählen' },
  send_request: { en: 'Send request', de: 'Anfrage senden' },
  cancel: { en: 'Cancel', de: 'Abbrechen' },
  what_will_happen: { en: 'What will happen', de: 'Was geschehen wird' },
  not_sent: { en: 'The request was not sent', de: 'Die Anfrage wurde nicht gesendet' },
  without_end: { en: 'Without an end', de: 'Unbefristet' },
  how_long: { en: 'How long', de: 'Wie lange' },
  how_long_help: {
    en: 'The time starts when the access is given. The dates assume that this happens now. You can ask to extend it.',
    de: 'Die Zeit beginnt, wenn der Zugang da ist; jedes Ende gilt, falls er jetzt eingerichtet wird. Sie können mehr Zeit beantragen.',
  },
  why_need: { en: 'Why do you need it?', de: 'Wozu brauchen Sie es?' },
  why_help: {
    en: 'Those who decide read this. Say what you will do with it, and for what.',
    de: 'Das lesen die Personen, die entscheiden. Schreiben Sie, was Sie damit tun und wofür.',
  },
  gives_by_hand: { en: 'A person gives it by hand', de: 'Eine Person richtet es von Hand ein' },
  closed_title: { en: 'You cannot ask for this', de: 'Das können Sie nicht beantragen' },
  closed_text: {
    en: (groups: string, admins: string) =>
      `Only members of ${groups === '' ? 'certain groups' : groups} can ask for this, and you are in none of them. ${admins === '' ? 'Ask an admin.' : `Ask ${admins}.`}`,
    de: (groups: string, admins: string) =>
      `Nur Mitglieder ${groups === '' ? 'bestimmter Gruppen' : `von ${groups}`} können das beantragen, und Sie sind in keiner davon. Wenden Sie sich an ${admins === '' ? 'eine Person aus der Administration' : admins}.`,
  },
  asked_already: {
    en: 'You have already asked for this, and it is in progress. My access shows how far it is.',
    de: 'Das haben Sie bereits beantragt, und es ist auf dem Weg. Mein Zugang zeigt, wie weit.',
  },
  app_disconnected: {
    en: 'This app is disconnected at present, so you cannot request anything in it.',
    de: 'Diese Anwendung ist derzeit getrennt; darin kann nichts beantragt werden.',
  },
  takes_by_hand: {
    en: 'A person takes it back by hand',
    de: 'Eine Person entzieht es von Hand',
  },
  keyway_gives: { en: 'Keyway gives it', de: 'Keyway richtet es ein' },
  as_soon_as: {
    en: 'As soon as everyone has approved',
    de: 'Sobald alle zugestimmt haben',
  },
  keyway_takes_back: { en: 'Keyway takes it back', de: 'Keyway entzieht es' },
  when_over: { en: 'When its time is up', de: 'Wenn die Zeit vorbei ist' },
  decides_as_manager: {
    en: 'Decides as manager',
    de: 'Entscheidet als Führungskraft',
  },
  decides_as_approver: {
    en: 'Decides as approver',
    de: 'Entscheidet als genehmigende Person',
  },
  decides: { en: 'Decides', de: 'Entscheidet' },
  decides_who: {
    en: (people: string) => `Decides: ${people}`,
    de: (people: string) => `Entscheidet: ${people}`,
  },
  rule_approves: { en: 'A rule approves it', de: 'Eine Regel genehmigt es' },
  nobody_asked: { en: 'Nobody is asked', de: 'Niemand wird gefragt' },
  rule_spares: {
    en: (length: string) => `Up to ${length}, a rule approves it without asking anyone.`,
    de: (length: string) => `Bis ${length} genehmigt es eine Regel, und niemand wird gefragt.`,
  },
  then_decides: { en: ', then ', de: ', dann ' },
  decides_again: { en: 'again', de: 'noch einmal' },
  one_decides_again: { en: 'again one of them', de: 'wieder jemand von ihnen' },
  the_same_decides: { en: 'the same person', de: 'dieselbe Person' },
  rule_decides: { en: 'No one: a rule approves it', de: 'Niemand: eine Regel genehmigt es' },
  rule_decides_up_to: {
    en: (length: string, people: string) => `Up to ${length}: a rule. Longer: ${people}`,
    de: (length: string, people: string) => `Bis ${length}: eine Regel. Länger: ${people}`,
  },
  takes: { en: 'How long it takes', de: 'Wie lange es dauert' },
  takes_usually: {
    en: (length: string) => `Usually ${length}`,
    de: (length: string) => `Meist ${length}`,
  },
  takes_unknown: {
    en: 'Not known yet: too few decisions so far',
    de: 'Noch nicht bekannt: bisher zu wenige Entscheidungen',
  },
  takes_no_time: { en: 'Given at once', de: 'Wird sofort eingerichtet' },
  takes_a_hand: {
    en: 'Until a person has set it up',
    de: 'Bis eine Person es eingerichtet hat',
  },
  who_will_decide: {
    en: 'Who decides, and what happens then',
    de: 'Wer entscheidet, und was dann geschieht',
  },
  seldom_decided: {
    en: 'Too few requests for this app were decided in the last 90 days to say how long it takes.',
    de: 'In den letzten 90 Tagen wurde über zu wenige Anfragen für diese Anwendung entschieden, um zu sagen, wie lange es dauert.',
  },
  usually: {
    en: (length: string, count: number) =>
      `Usually decided in ${length} (median of ${pluralOf(count, 'en', { one: 'request', other: 'requests' })} in 90 days).`,
    de: (length: string, count: number) =>
      `Meist in ${length} entschieden (Median aus ${pluralOf(count, 'de', { one: 'Anfrage', other: 'Anfragen' })} in 90 Tagen).`,
  },
  choose_length: {
    en: 'Choose how long you need it.',
    de: 'Wählen Sie, wie lange Sie es brauchen.',
  },
  say_why_need: {
    en: 'Say why you need it, in a sentence or two.',
    de: 'Schreiben Sie in ein, zwei Sätzen, wozu Sie es brauchen.',
  },
  a_policy: {
    en: (name: string | null) => (name === null ? 'A policy' : `The policy “${name}”`),
    de: (name: string | null) => (name === null ? 'Eine Richtlinie' : `Die Richtlinie „${name}“`),
  },
  asked_step: {
    en: (who: string | null, target: 'self' | 'you' | { name: string }) =>
      `${who ?? 'You'} asked${target === 'self' ? '' : target === 'you' ? ' for you' : ` for ${target.name}`}`,
    de: (who: string | null, target: 'self' | 'you' | { name: string }) =>
      `${who === null ? 'Sie haben' : `${who} hat`} ${target === 'self' ? '' : target === 'you' ? 'für Sie ' : `für ${target.name} `}die Anfrage gestellt`,
  },
  or: {
    en: (few: string, last: string) => `${few} or ${last}`,
    de: (few: string, last: string) => `${few} oder ${last}`,
  },
  group_named: {
    en: (name: string) => `${name} (group)`,
    de: (name: string) => `${name} (Gruppe)`,
  },
  others: {
    en: (count: number) => `${count} others`,
    de: (count: number) => `${count} andere`,
  },
  said_yes: {
    en: (who: string | null, forWhom: string | null) =>
      `${who ?? 'You'}${forWhom === null ? '' : `, for ${forWhom},`} said yes`,
    de: (who: string | null, forWhom: string | null) =>
      `${who === null ? 'Sie haben' : `${who} hat`}${forWhom === null ? '' : ` in Vertretung von ${forWhom}`} zugestimmt`,
  },
  said_no: {
    en: (who: string | null, forWhom: string | null) =>
      `${who ?? 'You'}${forWhom === null ? '' : `, for ${forWhom},`} said no`,
    de: (who: string | null, forWhom: string | null) =>
      `${who === null ? 'Sie haben' : `${who} hat`}${forWhom === null ? '' : ` in Vertretung von ${forWhom}`} abgelehnt`,
  },
  nobody_in_time: { en: 'No one decided in time', de: 'Niemand hat rechtzeitig entschieden' },
  ends_undecided: {
    en: (day: Insert) => html`without a decision the request ends on ${day}`,
    de: (day: Insert) => html`ohne Entscheidung endet die Anfrage am ${day}`,
  },
  since: {
    en: (moment: Insert) => html`since ${moment}`,
    de: (moment: Insert) => html`seit ${moment}`,
  },
  or_as_delegate: {
    en: (names: string) => `or, as delegate, ${names}`,
    de: (names: string) => `oder in Vertretung ${names}`,
  },
  decides_now: {
    en: (who: string) => `${who} decides now`,
    de: (who: string) => `${who} entscheidet jetzt`,
  },
  decides_then: {
    en: (who: string) => `Then ${who} decides`,
    de: (who: string) => `Danach entscheidet ${who}`,
  },
  by_a_rule: { en: 'Approved by a rule', de: 'Durch eine Regel genehmigt' },
  denied: { en: 'Denied', de: 'Abgelehnt' },
  by_hand_gives: {
    en: (who: string) => `${who} gives it by hand`,
    de: (who: string) => `${who} richtet es von Hand ein`,
  },
  by_hand_takes: {
    en: (who: string) => `${who} takes it back by hand`,
    de: (who: string) => `${who} entzieht es von Hand`,
  },
  gave_by_hand: {
    en: (who: string | null) => `${who ?? 'You'} gave it by hand`,
    de: (who: string | null) =>
      `${who === null ? 'Sie haben' : `${who} hat`} es von Hand eingerichtet`,
  },
  took_by_hand: {
    en: (who: string | null) => `${who ?? 'You'} took it back by hand`,
    de: (who: string | null) => `${who === null ? 'Sie haben' : `${who} hat`} es von Hand entzogen`,
  },
  gave_back: {
    en: (who: string | null) => `${who ?? 'You'} gave it back`,
    de: (who: string | null) => `${who === null ? 'Sie haben' : `${who} hat`} es zurückgegeben`,
  },
  revoked_by: {
    en: (who: string | null) => `${who ?? 'You'} revoked it`,
    de: (who: string | null) => `${who === null ? 'Sie haben' : `${who} hat`} es widerrufen`,
  },
  then_yours: {
    en: (who: string | null, length: string) =>
      who === null ? `Then yours, ${length}` : `Then ${who} has it, ${length}`,
    de: (who: string | null, length: string) =>
      `Dann ${who === null ? 'haben Sie' : `hat ${who}`} es, ${length}`,
  },
  being_checked: { en: 'It is being checked', de: 'Es wird geprüft' },
  giving: { en: 'Keyway is giving it', de: 'Keyway richtet es gerade ein' },
  being_given: { en: 'It is being given', de: 'Es wird eingerichtet' },
  yours: {
    en: (who: string | null) => (who === null ? 'It is yours' : `${who} has it`),
    de: (who: string | null) => (who === null ? 'Sie haben es' : `${who} hat es`),
  },
  yours_for_good: {
    en: (who: string | null) => `${who === null ? 'It is yours' : `${who} has it`}, without an end`,
    de: (who: string | null) => `${who === null ? 'Sie haben es' : `${who} hat es`}, unbefristet`,
  },
  until: {
    en: (moment: Insert) => html`until ${moment}`,
    de: (moment: Insert) => html`bis ${moment}`,
  },
  over_taking: {
    en: 'Its time is up; Keyway is removing it',
    de: 'Die Zeit ist vorbei; Keyway entzieht es gerade',
  },
  taking: { en: 'Keyway is removing it', de: 'Keyway entzieht es gerade' },
  not_given: { en: 'It was not given', de: 'Es wurde nicht eingerichtet' },
  was_withdrawn: { en: 'It was withdrawn', de: 'Die Anfrage wurde zurückgezogen' },
  is_gone: { en: 'It is removed', de: 'Es ist entzogen' },
  over_gone: {
    en: 'Its time was up; the access is removed',
    de: 'Die Zeit war vorbei; es ist entzogen',
  },
  over_not_gone: {
    en: 'Its time was up, but no one removed it in time',
    de: 'Die Zeit war vorbei, und niemand hat es rechtzeitig entzogen',
  },
  over_left: {
    en: 'Its time was up; a person decided to leave it',
    de: 'Die Zeit war vorbei; eine Person hat entschieden, es zu belassen',
  },
} as const
