/** SIGN_IN_WORDS: signing in by a provider, signing out, and a form whose sign-in is over. */
import { html } from 'hono/html'
import type { Insert, Link } from './access.ts'
import type { Language } from './languages.ts'

/** Why nobody was signed in. */
type NotIn =
  | 'denied'
  | 'away'
  | 'wrong'
  | 'stale'
  | 'no_address'
  | 'unverified'
  | 'unknown'
  | 'suspended'

type Told = { name: string; email: string | null; requestId: string }
type Problems = Record<Language, Record<NotIn, { title: string; text: (told: Told) => string }>>

export const SIGN_IN_WORDS = {
  not_in: {
    en: {
      denied: {
        title: 'You are not signed in',
        text: ({ name }) =>
          `${name} said no, or you cancelled. Try again, or ask the operator for a link.`,
      },
      away: {
        title: 'The identity provider does not answer',
        text: ({ name, requestId }) =>
          `${name} cannot be reached. Try again in a moment, or ask the operator for a link. Request id ${requestId}.`,
      },
      wrong: {
        title: 'The answer of the identity provider does not hold',
        text: ({ name, requestId }) =>
          `What ${name} sent could not be verified, so you were not signed in. Try again; the operator can find ${requestId} in the log.`,
      },
      stale: {
        title: 'This sign-in is over',
        text: () =>
          'The sign-in was started in another browser, more than ten minutes ago, or is already done. Try again.',
      },
      no_address: {
        title: 'Your address is not known',
        text: ({ name }) =>
          `${name} did not say your e-mail address. Ask your operator to have it sent.`,
      },
      unverified: {
        title: 'Your address is not verified',
        text: ({ name, email }) =>
          `${name} has not verified ${email ?? 'your address'}. Verify it there, then try again.`,
      },
      unknown: {
        title: 'You are not in the directory yet',
        text: ({ name, email }) =>
          `${email ?? 'Your address'} is known to ${name}, not to Keyway. Ask an admin to add you.`,
      },
      suspended: { title: 'Your account is suspended', text: () => 'Ask an admin.' },
    },
    de: {
      denied: {
        title: 'Sie sind nicht angemeldet',
        text: ({ name }) =>
          `${name} hat abgelehnt, oder Sie haben abgebrochen. Versuchen Sie es erneut, oder bitten Sie den Betreiber um einen Link.`,
      },
      away: {
        title: 'Der Anmeldedienst antwortet nicht',
        text: ({ name, requestId }) =>
          `${name} ist nicht erreichbar. Versuchen Sie es gleich noch einmal, oder bitten Sie den Betreiber um einen Link. Kennung ${requestId}.`,
      },
      wrong: {
        title: 'Die Antwort des Anmeldedienstes stimmt nicht',
        text: ({ name, requestId }) =>
          `Was ${name} gesendet hat, ließ sich nicht prüfen, deshalb wurde niemand angemeldet. Versuchen Sie es erneut; der Betreiber findet mehr im Protokoll unter ${requestId}.`,
      },
      stale: {
        title: 'Diese Anmeldung ist vorbei',
        text: () =>
          'Sie wurde in einem anderen Browser begonnen, vor mehr als zehn Minuten, oder ist schon geschehen. Versuchen Sie es erneut.',
      },
      no_address: {
        title: 'Ihre Adresse ist nicht bekannt',
        text: ({ name }) =>
          `${name} hat Ihre E-Mail-Adresse nicht genannt. Bitten Sie Ihren Betreiber, sie senden zu lassen.`,
      },
      unverified: {
        title: 'Ihre Adresse ist nicht bestätigt',
        text: ({ name, email }) =>
          `${name} hat ${email ?? 'Ihre Adresse'} nicht bestätigt. Bestätigen Sie sie dort, und versuchen Sie es dann erneut.`,
      },
      unknown: {
        title: 'Sie sind noch nicht im Verzeichnis',
        text: ({ name, email }) =>
          `${email ?? 'Ihre Adresse'} ist bei ${name} bekannt, bei Keyway nicht. Bitten Sie einen Administrator, Sie hinzuzufügen.`,
      },
      suspended: {
        title: 'Ihr Konto ist gesperrt',
        text: () => 'Wenden Sie sich an einen Administrator.',
      },
    },
  } satisfies Problems,
  signed_out: { en: 'You are signed out', de: 'Sie sind abgemeldet' },
  signed_out_text: {
    en: (name: string, link: Link) =>
      html`You are still signed in to ${name}: anyone who uses this browser can come back without a password. ${link(`Sign out of ${name} too`)}.`,
    de: (name: string, link: Link) =>
      html`Bei ${name} sind Sie noch angemeldet: Wer diesen Browser benutzt, kann ohne Passwort zurückkommen. ${link(`Auch bei ${name} abmelden`)}.`,
  },
  nothing_sent: { en: 'Nothing was sent', de: 'Nichts wurde gesendet' },
  earlier_sign_in: {
    en: 'The form is of an earlier sign-in.',
    de: 'Das Formular gehört zu einer früheren Anmeldung.',
  },
  no_longer_in: {
    en: 'You are no longer signed in.',
    de: 'Sie sind nicht mehr angemeldet.',
  },
  copy_first: {
    en: 'Copy what you wrote, then open the page again.',
    de: 'Kopieren Sie, was Sie geschrieben haben, und öffnen Sie dann die Seite erneut.',
  },
  choose_file_again: {
    en: 'You have to choose the file again there.',
    de: 'Dort müssen Sie die Datei noch einmal auswählen.',
  },
  what_you_entered: { en: 'What you had entered', de: 'Ihre Eingaben' },
  open_page: { en: 'Open the page again.', de: 'Öffnen Sie die Seite erneut.' },
  open_again: { en: 'Open the page again', de: 'Seite erneut öffnen' },
  sign_in: { en: 'Sign in', de: 'Anmelden' },
  why_you_need_it: { en: 'Why you need it', de: 'Wozu Sie es brauchen' },
  sign_in_error: { en: 'Error: sign in', de: 'Fehler: Anmelden' },
  with_a_link: { en: 'With a link', de: 'Mit einem Link' },
  link_help: {
    en: (command: Insert) =>
      html`Your operator makes one with ${command}. It works once, for ten minutes.`,
    de: (command: Insert) =>
      html`Ihr Betreiber erstellt einen mit ${command}. Er gilt einmal und zehn Minuten lang.`,
  },
  code_ready: {
    en: 'Your code is filled in; it is used when you press the button.',
    de: 'Ihr Code ist eingetragen; er wird verwendet, wenn Sie auf den Knopf drücken.',
  },
  code: { en: 'Code', de: 'Anmeldecode' },
  sign_in_code: { en: 'Sign in with the code', de: 'Mit dem Code anmelden' },
  with_a_token: { en: 'With an API token', de: 'Mit einem API-Token' },
  token_help: {
    en: (start: Insert) =>
      html`It begins with ${start}. With one that may only read, you can look and change nothing.`,
    de: (start: Insert) =>
      html`Es beginnt mit ${start}. Mit einem, das nur lesen darf, können Sie alles ansehen und nichts ändern.`,
  },
  api_token: { en: 'API token', de: 'API-Token' },
  sign_in_token: { en: 'Sign in with the token', de: 'Mit dem Token anmelden' },
  documentation_at: {
    en: (link: Insert) => html`Documentation is at ${link}.`,
    de: (link: Insert) => html`Die Dokumentation finden Sie unter ${link}.`,
  },
  by_company: { en: 'With your company’s sign-in', de: 'Mit der Anmeldung Ihrer Firma' },
  continue_with: {
    en: (name: string) => `Continue with ${name}`,
    de: (name: string) => `Weiter mit ${name}`,
  },
  or_else: { en: 'or', de: 'oder' },
  not_signed_in: { en: 'You are not signed in', de: 'Sie sind nicht angemeldet' },
  earlier_visit: {
    en: 'The form was of an earlier visit, or cookies are off. Try again.',
    de: 'Das Formular gehört zu einem früheren Besuch, oder Cookies sind abgeschaltet. Versuchen Sie es erneut.',
  },
  nothing_entered: {
    en: 'Enter the code of a link, or an API token.',
    de: 'Geben Sie den Code eines Links oder ein API-Token ein.',
  },
  wrong_code: {
    en: 'This code was used already, is older than ten minutes, or is none. Make a new link.',
    de: 'Dieser Code wurde schon verwendet, ist älter als zehn Minuten oder ist keiner. Lassen Sie einen neuen Link erstellen.',
  },
  wrong_token: {
    en: 'This token is unknown, revoked or expired, or its user may not act.',
    de: 'Dieses Token ist unbekannt, widerrufen oder abgelaufen, oder die Person darf nicht handeln.',
  },
} as const
