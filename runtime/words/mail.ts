/** MAIL_TEXTS: what each mail says. Names come in cut and without what would turn the line (core/mail/mail-names.ts). */
import type { Language } from './languages.ts'
import { accessLength, dayOf, momentOf, pluralOf } from './time.ts'

/** What is known of the matter of a mail; null where there is none of it. */
export type Matter = {
  /** What access is asked for or was given. */
  thing: string | null
  app: string | null
  /** Who asked. */
  by: string | null
  /** Who is to have it. */
  target: string | null
  /** Who revoked it. */
  revoker: string | null
  /** What a person wrote, or a host says. */
  note: string | null
  /** For how long access was asked, in seconds; null for good. */
  seconds: number | null
  /** When it ends, or by when it has to be done. */
  until: Date | null
  /** How many lines are open. */
  count: number | null
  now: Date
}

type Text = { subject: (of: Matter) => string; lines: (of: Matter) => readonly string[] }
type TextRow = Record<Language, Text>

const what = ({ thing, app }: Matter, language: Language): string => {
  const whole = app ?? { en: 'an app', de: 'einer Anwendung' }[language]
  if (thing === null) return { en: `access to ${whole}`, de: `Zugang zu ${whole}` }[language]
  return language === 'de' ? `„${thing}“ in ${whole}` : `“${thing}” in ${whole}`
}

const quoted = ({ note }: Matter, language: Language): string[] =>
  note === null ? [] : [language === 'de' ? `„${note}“` : `“${note}”`]

const who = (name: string | null, language: Language): string =>
  name ?? { en: 'A person', de: 'Eine Person' }[language]

const day = ({ until, now }: Matter, language: Language): string =>
  until === null ? '' : dayOf(until, now, language)

/** For another person than the one who asks. */
const other = ({ by, target }: Matter): string | null =>
  target !== null && target !== by ? target : null

/** Who asks: a request without a person is of a policy. */
const asker = (name: string | null, language: Language): string =>
  name ?? { en: 'An access policy', de: 'Eine Richtlinie' }[language]

const asks = {
  en: {
    subject: (of) => `${asker(of.by, 'en')} asks for ${what(of, 'en')}`,
    lines: (of) => [
      `${asker(of.by, 'en')} asks for ${what(of, 'en')}${other(of) ? ` for ${other(of)}` : ''}, ${accessLength(of.seconds, 'en')}.`,
      ...quoted(of, 'en'),
      'You decide. Open the page to see the grounds, and say yes or no there.',
    ],
  },
  de: {
    subject: (of) => `${asker(of.by, 'de')} beantragt ${what(of, 'de')}`,
    lines: (of) => [
      `${asker(of.by, 'de')} beantragt ${what(of, 'de')}${other(of) ? ` für ${other(of)}` : ''}, ${accessLength(of.seconds, 'de')}.`,
      ...quoted(of, 'de'),
      'Sie entscheiden. Öffnen Sie die Seite: Dort sehen Sie die Entscheidungsgrundlagen, und dort genehmigen Sie oder lehnen ab.',
    ],
  },
} as const satisfies TextRow

/** A request that a person ended: the wording of subject and sentence. */
const endedBy = ({ en, de }: Record<Language, readonly [subject: string, was: string]>) =>
  ({
    en: {
      subject: (of) => `${en[0]}: ${what(of, 'en')}`,
      lines: (of) => [
        `The request for ${what(of, 'en')}${other(of) ? ` for ${other(of)}` : ''} was ${en[1]}.`,
        ...quoted(of, 'en'),
      ],
    },
    de: {
      subject: (of) => `${de[0]}: ${what(of, 'de')}`,
      lines: (of) => [
        `Die Anfrage nach ${what(of, 'de')}${other(of) ? ` für ${other(of)}` : ''} wurde ${de[1]}.`,
        ...quoted(of, 'de'),
      ],
    },
  }) satisfies TextRow

export const MAIL_TEXTS = {
  asks,
  give: {
    en: {
      subject: (of) => `Give ${who(other(of) ?? of.by, 'en')} ${what(of, 'en')}`,
      lines: (of) => [
        `${who(of.target ?? of.by, 'en')} is to get ${what(of, 'en')}. A person has to do it by hand, and you were asked.`,
        'Open the page and confirm there when it is done.',
      ],
    },
    de: {
      subject: (of) => `Bitte einrichten: ${what(of, 'de')}`,
      lines: (of) => [
        `${who(of.target ?? of.by, 'de')} soll ${what(of, 'de')} erhalten. Das geschieht von Hand, und Sie wurden darum gebeten.`,
        'Öffnen Sie die Seite und bestätigen Sie dort, wenn es erledigt ist.',
      ],
    },
  },
  remove: {
    en: {
      subject: (of) => `Remove ${what(of, 'en')}`,
      lines: (of) => [
        `${who(of.target, 'en')} is to have ${what(of, 'en')} no longer. A person has to remove it by hand, and you were asked.`,
        'Open the page and confirm there when it is done.',
      ],
    },
    de: {
      subject: (of) => `Bitte entziehen: ${what(of, 'de')}`,
      lines: (of) => [
        `${who(of.target, 'de')} soll ${what(of, 'de')} nicht mehr haben. Das geschieht von Hand, und Sie wurden darum gebeten.`,
        'Öffnen Sie die Seite und bestätigen Sie dort, wenn es erledigt ist.',
      ],
    },
  },
  todo: {
    en: {
      subject: (of) => `Something waits for you${of.app ? `: ${of.app}` : ''}`,
      lines: (of) => [...quoted(of, 'en'), 'Open the page to see what to do.'],
    },
    de: {
      subject: (of) => `Eine Aufgabe wartet auf Sie${of.app ? `: ${of.app}` : ''}`,
      lines: (of) => [...quoted(of, 'de'), 'Öffnen Sie die Seite, um zu sehen, was zu tun ist.'],
    },
  },
  approved: {
    en: {
      subject: (of) => `Approved: ${what(of, 'en')}`,
      lines: (of) => [
        `The request for ${what(of, 'en')}${other(of) ? ` for ${other(of)}` : ''} was approved. Keyway gives it now, or asks a person to do it by hand.`,
      ],
    },
    de: {
      subject: (of) => `Genehmigt: ${what(of, 'de')}`,
      lines: (of) => [
        `Die Anfrage nach ${what(of, 'de')}${other(of) ? ` für ${other(of)}` : ''} wurde genehmigt. Keyway richtet es jetzt ein oder bittet eine Person, es von Hand zu tun.`,
      ],
    },
  },
  denied: endedBy({ en: ['Denied', 'denied'], de: ['Abgelehnt', 'abgelehnt'] }),
  cancelled: endedBy({ en: ['Cancelled', 'cancelled'], de: ['Abgebrochen', 'abgebrochen'] }),
  undecided: {
    en: {
      subject: (of) => `Not decided: ${what(of, 'en')}`,
      lines: (of) => [
        `The request for ${what(of, 'en')} has ended without a decision.`,
        ...quoted(of, 'en'),
        'You can ask again.',
      ],
    },
    de: {
      subject: (of) => `Nicht entschieden: ${what(of, 'de')}`,
      lines: (of) => [
        `Die Anfrage nach ${what(of, 'de')} ist ohne Entscheidung zu Ende gegangen.`,
        ...quoted(of, 'de'),
        'Sie können eine neue Anfrage stellen.',
      ],
    },
  },
  given: {
    en: {
      subject: (of) => `Given: ${what(of, 'en')}`,
      lines: (of) => [
        other(of) ? `${other(of)} has ${what(of, 'en')} now.` : `You have ${what(of, 'en')} now.`,
        of.until === null ? 'It has no end.' : `It ends on ${momentOf(of.until, of.now, 'en')}.`,
      ],
    },
    de: {
      subject: (of) => `Eingerichtet: ${what(of, 'de')}`,
      lines: (of) => [
        other(of)
          ? `${other(of)} hat jetzt ${what(of, 'de')}.`
          : `Sie haben jetzt ${what(of, 'de')}.`,
        of.until === null
          ? 'Es ist unbefristet.'
          : `Es endet am ${momentOf(of.until, of.now, 'de')}.`,
      ],
    },
  },
  revoked: {
    en: {
      subject: (of) => `Revoked: ${what(of, 'en')}`,
      lines: (of) => [
        `${who(of.revoker, 'en')} revoked ${what(of, 'en')}${other(of) ? ` of ${other(of)}` : ''}. Keyway removes it now, or asks a person to do it by hand. What was there before, or is given by another request, stays: the request says so.`,
        ...quoted(of, 'en'),
      ],
    },
    de: {
      subject: (of) => `Widerrufen: ${what(of, 'de')}`,
      lines: (of) => [
        `${who(of.revoker, 'de')} hat ${what(of, 'de')}${other(of) ? ` von ${other(of)}` : ''} widerrufen. Keyway entzieht es jetzt oder bittet eine Person, es von Hand zu tun. Was vorher schon da war oder durch einen anderen Antrag gegeben ist, bleibt: Der Antrag sagt es.`,
        ...quoted(of, 'de'),
      ],
    },
  },
  ends: {
    en: {
      subject: (of) => `Ends on ${day(of, 'en')}: ${what(of, 'en')}`,
      lines: (of) => [
        `${what(of, 'en')} ends on ${of.until ? momentOf(of.until, of.now, 'en') : ''}. Then Keyway removes it.`,
        'Open the page to ask for more time. If you do not need it any more, there is nothing to do.',
      ],
    },
    de: {
      subject: (of) => `Endet am ${day(of, 'de')}: ${what(of, 'de')}`,
      lines: (of) => [
        `${what(of, 'de')} endet am ${of.until ? momentOf(of.until, of.now, 'de') : ''}. Dann entzieht Keyway es.`,
        'Öffnen Sie die Seite, um mehr Zeit zu beantragen. Wenn Sie es nicht mehr brauchen, müssen Sie nichts tun.',
      ],
    },
  },
  review: {
    en: {
      subject: (of) => `Review ${lines(of, 'en')} of ${of.app ?? 'an app'} until ${day(of, 'en')}`,
      lines: (of) => [
        `In the access review “${of.thing ?? ''}”, ${lines(of, 'en')} of ${of.app ?? 'an app'} wait for you. Decide them by ${day(of, 'en')}.`,
      ],
    },
    de: {
      subject: (of) =>
        `Bitte prüfen bis ${day(of, 'de')}: ${lines(of, 'de')}, ${of.app ?? 'eine Anwendung'}`,
      lines: (of) => [
        `In der Zugriffsüberprüfung „${of.thing ?? ''}“ warten auf Sie: ${lines(of, 'de')} zu ${of.app ?? 'einer Anwendung'}. Sie sind bis ${day(of, 'de')} zu entscheiden.`,
      ],
    },
  },
  sync_failed: {
    en: {
      subject: (of) => `The sync of ${of.app ?? 'an app'} failed`,
      lines: (of) => [
        ...quoted(of, 'en'),
        'What earlier syncs brought stays as it was. Open the page to see what to put right.',
      ],
    },
    de: {
      subject: (of) => `Der Abgleich von ${of.app ?? 'einer Anwendung'} ist fehlgeschlagen`,
      lines: (of) => [
        ...quoted(of, 'de'),
        'Was frühere Abgleiche gebracht haben, bleibt, wie es war. Öffnen Sie die Seite, um zu sehen, was in Ordnung zu bringen ist.',
      ],
    },
  },
  quarantined: {
    en: {
      subject: (of) => `The connector ${of.thing ?? ''} is in quarantine`,
      lines: (of) => [
        `The worker process of the connector ${of.thing ?? ''} kept dying. It takes no calls for a while, then it is tried again.`,
        `See what happened: keyway logs ${of.thing ?? ''}. To have it tried at once: keyway release ${of.thing ?? ''}.`,
      ],
    },
    de: {
      subject: (of) => `Der Connector ${of.thing ?? ''} ist in Quarantäne`,
      lines: (of) => [
        `Der Prozess des Connectors ${of.thing ?? ''} ist mehrmals abgebrochen. Er nimmt eine Zeit lang keine Aufrufe an und wird dann wieder versucht.`,
        `Was geschehen ist, zeigt: keyway logs ${of.thing ?? ''}. Sofort wieder versucht wird er mit: keyway release ${of.thing ?? ''}.`,
      ],
    },
  },
  test: {
    en: {
      subject: () => 'A test of the mail of Keyway',
      lines: () => ['An operator sent this mail to see whether mail arrives. It does.'],
    },
    de: {
      subject: () => 'Ein Test der E-Mail von Keyway',
      lines: () => [
        'Ein Betreiber hat diese E-Mail gesendet, um zu sehen, ob E-Mail ankommt. Sie kommt an.',
      ],
    },
  },
} as const satisfies Record<string, TextRow>

export type MailText = keyof typeof MAIL_TEXTS

/** The text of a mail in a language. */
export const mailText = (name: MailText, language: Language): Text => MAIL_TEXTS[name][language]

function lines({ count }: Matter, language: Language): string {
  const words = {
    en: { one: 'line', other: 'lines' },
    de: { one: 'Zeile', other: 'Zeilen' },
  }[language]
  return pluralOf(count ?? 0, language, words)
}

/** What stands around the text of every mail. */
export const MAIL_FRAME = {
  hello: { en: (name: string) => `Hello ${name},`, de: (name: string) => `Guten Tag ${name},` },
  open: { en: 'Open the page', de: 'Seite öffnen' },
  digest_subject: {
    en: (count: number) =>
      `${pluralOf(count, 'en', { one: 'thing', other: 'things' })} from Keyway`,
    de: (count: number) =>
      `${pluralOf(count, 'de', { one: 'Nachricht', other: 'Nachrichten' })} von Keyway`,
  },
  digest_lead: {
    en: 'This is what happened since the last mail:',
    de: 'Das ist seit der letzten E-Mail geschehen:',
  },
  by_itself: {
    en: 'Keyway sent this mail automatically. Replies are not read.',
    de: 'Keyway hat diese E-Mail automatisch gesendet. Antworten darauf liest niemand.',
  },
  settings: {
    en: 'Choose which mail you get, and its language',
    de: 'Wählen, welche E-Mail Sie erhalten und in welcher Sprache',
  },
} as const
