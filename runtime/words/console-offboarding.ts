/** CONSOLE_OFFBOARDING: the words of people who leave. */
import type { OffboardingStatus } from '../contract/models/user-offboarding.ts'
import { inBoth } from './say.ts'
import { counting } from './time.ts'

const en = counting('en')
const de = counting('de')

export const CONSOLE_OFFBOARDING = {
  offboarding_states: inBoth<Record<OffboardingStatus, string>>({
    en: {
      SCHEDULED: 'Scheduled',
      IN_PROGRESS: 'Under way',
      DIVERTED: 'Diverted',
      CANCELLED: 'Cancelled',
      FAILED: 'Failed',
      EXPIRED: 'Expired',
      COMPLETED: 'Done',
    },
    de: {
      SCHEDULED: 'Geplant',
      IN_PROGRESS: 'Läuft',
      DIVERTED: 'Umgeleitet',
      CANCELLED: 'Abgebrochen',
      FAILED: 'Fehlgeschlagen',
      EXPIRED: 'Abgelaufen',
      COMPLETED: 'Abgeschlossen',
    },
  }),
  offboarding: inBoth({
    en: {
      card: 'When the person leaves',
      none: 'Nothing is planned. An offboarding removes all access of a person who leaves, and checks that it is removed.',
      start: 'Offboard',
      state: 'State',
      at: 'At',
      begun: 'Asked for',
      over: 'Over',
      accounts: 'Accounts',
      gone: (gone: number, all: number) => `${gone} of ${all} are taken`,
      byHand: (accounts: number) =>
        `${en(accounts, 'account waits', 'accounts wait')} for work by hand: there is a task for each`,
      left: (accounts: number) =>
        `${en(accounts, 'account stays', 'accounts stay')}: a person decided so`,
      failed: 'It failed before it was done',
      failedText: 'Fix the problem, then offboard the person again.',
      cancelIt: 'Cancel it',
      title: 'Offboard this person',
      lead: 'It can be cancelled until it begins, and not undone afterwards.',
      button: 'Offboard',
      done: 'It is under way, or scheduled: how far it is stands below.',
      when: 'When',
      whenNow: 'Now',
      whenLater: 'At the beginning of a day',
      day: 'Day',
      dayHelp: 'In UTC. Only for a day to come.',
      dayMissing: 'Name the day on which it is to begin',
      signedOut: (name: string) =>
        `${name} is signed out, and can no longer do anything here; their API tokens end`,
      takes: (accounts: number) =>
        accounts === 0
          ? 'No account of theirs is known'
          : `${en(accounts, 'account is', 'accounts are')} made unusable; what a connector cannot do becomes a task`,
      ends: (requests: number) =>
        `${en(requests, 'access request that is', 'access requests that are')} open or given is ended`,
      begins: (day: string) => `It begins on ${day}`,
      stays: 'The record of the person stays, with the log of what they did',
      cancelTitle: 'Cancel the offboarding',
      cancelLine: 'The person keeps what they have',
      cancelButton: 'Cancel the offboarding',
      cancelled: 'The offboarding is cancelled.',
      cancelTooLate: 'It has begun, or is over: it can no longer be cancelled',
    },
    de: {
      card: 'Wenn die Person geht',
      none: 'Nichts ist geplant. Ein Austritt entzieht einer Person alles, und liest nach, dass es fort ist.',
      start: 'Austritt beginnen',
      state: 'Zustand',
      at: 'Zeitpunkt',
      begun: 'Angestoßen',
      over: 'Beendet',
      accounts: 'Konten',
      gone: (gone: number, all: number) => `${gone} von ${all} sind entzogen`,
      byHand: (accounts: number) =>
        `${de(accounts, 'Konto wartet', 'Konten warten')} auf Arbeit von Hand: Für jedes gibt es eine Aufgabe`,
      left: (accounts: number) =>
        `${de(accounts, 'Konto bleibt', 'Konten bleiben')}: Eine Person hat so entschieden`,
      failed: 'Der Austritt endete, bevor er fertig war',
      failedText: 'Beheben Sie, was dort steht, und beginnen Sie den Austritt erneut.',
      cancelIt: 'Austritt abbrechen',
      title: 'Austritt dieser Person',
      lead: 'Er lässt sich abbrechen, bis er beginnt, und danach nicht rückgängig machen.',
      button: 'Austritt beginnen',
      done: 'Der Austritt läuft oder ist geplant: Unten steht, wie weit er ist.',
      when: 'Wann',
      whenNow: 'Jetzt',
      whenLater: 'Am Anfang eines Tages',
      day: 'Tag',
      dayHelp: 'In UTC. Nur für einen Tag, der noch kommt.',
      dayMissing: 'Nennen Sie den Tag, an dem er beginnen soll',
      signedOut: (name: string) =>
        `${name} wird abgemeldet und kann hier nichts mehr tun; die API-Tokens enden`,
      takes: (accounts: number) =>
        accounts === 0
          ? 'Es ist kein Konto der Person bekannt'
          : `${de(accounts, 'Konto wird', 'Konten werden')} unbrauchbar gemacht; was ein Connector nicht kann, wird eine Aufgabe`,
      ends: (requests: number) =>
        `${de(requests, 'offener oder gewährter Antrag endet', 'offene oder gewährte Anträge enden')}`,
      begins: (day: string) => `Er beginnt am ${day}`,
      stays: 'Der Eintrag der Person bleibt, mit dem Protokoll dessen, was sie getan hat',
      cancelTitle: 'Geplanten Austritt abbrechen',
      cancelLine: 'Die Person behält, was sie hat',
      cancelButton: 'Geplanten Austritt abbrechen',
      cancelled: 'Der Austritt ist abgebrochen.',
      cancelTooLate: 'Er hat begonnen oder ist vorbei: Er lässt sich nicht mehr abbrechen',
    },
  }),
} as const
