/** TOKEN_WORDS: a person's API tokens, and the form that makes one. */
import { html } from 'hono/html'
import type { Insert } from './access.ts'

export const TOKEN_WORDS = {
  tokens_error: { en: 'Error: API tokens', de: 'Fehler: API-Tokens' },
  tokens_lead: {
    en: (header: Insert) =>
      html`A program that sends one of your tokens, as ${header}, acts as you, with the roles that you have at that moment.`,
    de: (header: Insert) =>
      html`Ein Programm, das eines Ihrer Tokens als ${header} sendet, handelt in Ihrem Namen, mit den Rollen, die Sie in diesem Moment haben.`,
  },
  tokens_read_only: {
    en: 'You signed in with a read-only token: you can look at your tokens. To make or revoke one, sign in with a link or another token.',
    de: 'Sie sind mit einem Token angemeldet, das nur lesen darf: Sie können Ihre Tokens ansehen. Um eines zu erstellen oder zu widerrufen, melden Sie sich mit einem Link oder einem anderen Token an.',
  },
  token_ready: {
    en: (name: string) => `“${name}” is ready`,
    de: (name: string) => `„${name}“ ist bereit`,
  },
  token_ready_text: {
    en: 'Copy the token now and keep it safe: it is not shown again.',
    de: 'Kopieren Sie das Token jetzt und bewahren Sie es sicher auf: Es wird nicht noch einmal gezeigt.',
  },
  your_new_token: { en: 'Your new token', de: 'Ihr neues Token' },
  copy: { en: 'Copy', de: 'Kopieren' },
  copied: { en: 'Copied.', de: 'Kopiert.' },
  copy_by_hand: {
    en: 'It is selected: copy it with your keyboard.',
    de: 'Es ist markiert: Kopieren Sie es mit der Tastatur.',
  },
  token_fields: {
    en: {
      name: 'Name',
      description: 'Description',
      expires: 'Last day',
      readOnly: 'Read only',
    },
    de: {
      name: 'Name',
      description: 'Beschreibung',
      expires: 'Letzter Tag',
      readOnly: 'Nur lesen',
    },
  },
  no_token_made: { en: 'No token was made', de: 'Es wurde kein Token erstellt' },
  new_token: { en: 'New token', de: 'Neues Token' },
  token_name_help: {
    en: 'What will use it, such as “nightly report”.',
    de: 'Was es benutzen wird, zum Beispiel „Nachtbericht“.',
  },
  token_description_help: {
    en: 'Where it is kept, who looks after it.',
    de: 'Wo es liegt und wer sich darum kümmert.',
  },
  token_expires_help: {
    en: 'It works to the end of that day (UTC). Empty: until you revoke it.',
    de: 'Es gilt bis zum Ende dieses Tages (UTC). Leer: bis Sie es widerrufen.',
  },
  token_read_only_help: {
    en: 'It can look at everything that you can, and change nothing.',
    de: 'Es kann alles ansehen, was Sie ansehen können, und nichts ändern.',
  },
  create_token: { en: 'Create token', de: 'Token erstellen' },
  your_tokens: { en: 'Your tokens', de: 'Ihre Tokens' },
  no_tokens: { en: 'You have none yet.', de: 'Sie haben noch keine.' },
  token_columns: {
    en: ['Name', 'Token', 'Access', 'Created', 'Last used', 'Expires', 'State'],
    de: ['Name', 'Token', 'Zugriff', 'Erstellt', 'Zuletzt genutzt', 'Läuft ab', 'Zustand'],
  },
  tokens_not_shown: {
    en: (count: number) => `${count} older ones, revoked or expired, are not shown.`,
    de: (count: number) => `${count} ältere, widerrufen oder abgelaufen, nicht gezeigt.`,
  },
  signed_in_with_it: {
    en: 'you are signed in with it',
    de: 'damit sind Sie angemeldet',
  },
  token_reads: { en: 'read', de: 'lesen' },
  token_writes: { en: 'read and write', de: 'lesen und schreiben' },
  never: { en: 'never', de: 'nie' },
  revoked_at: {
    en: (moment: Insert) => html`Revoked ${moment}`,
    de: (moment: Insert) => html`Widerrufen ${moment}`,
  },
  expired: { en: 'Expired', de: 'Abgelaufen' },
  token_works: { en: 'Works', de: 'Gültig' },
  revoke: { en: 'Revoke', de: 'Widerrufen' },
  revoke_text: {
    en: 'What uses it is refused from then on. This cannot be undone.',
    de: 'Was es benutzt, wird ab dann abgewiesen. Das lässt sich nicht rückgängig machen.',
  },
  revoke_for_good: { en: 'Revoke for good', de: 'Endgültig widerrufen' },
  token_revoked: {
    en: (name: string) => `“${name}” is revoked.`,
    de: (name: string) => `„${name}“ ist widerrufen.`,
  },
  token_form_twice: {
    en: 'This form was sent before, and made its token then; it is in the list. If you have not copied it, revoke it and make another.',
    de: 'Dieses Formular wurde schon gesendet und hat sein Token damals erstellt; es steht in der Liste. Wenn Sie es nicht kopiert haben, widerrufen Sie es und erstellen Sie ein anderes.',
  },
  token_problems: {
    en: {
      no_name: 'Enter a name, such as what will use the token',
      long_name: (most: number) => `Write a name of at most ${most} characters`,
      name_lines: 'Write the name in one line, without control characters',
      long_description: (most: number) => `Write a description of at most ${most}0 characters`,
      description_signs: 'Write the description without control characters',
      no_day: 'Write the day as year-month-day, such as 2030-12-31, or leave it empty',
      past_day: 'Choose today or a later day, or leave it empty',
      late_day: (day: string) =>
        `You signed in with a token that works until ${day}; choose that day or an earlier one`,
    },
    de: {
      no_name: 'Geben Sie einen Namen ein, zum Beispiel was das Token benutzen wird',
      long_name: (most: number) => `Schreiben Sie einen Namen mit höchstens ${most} Zeichen`,
      name_lines: 'Schreiben Sie den Namen in eine Zeile, ohne Steuerzeichen',
      long_description: (most: number) =>
        `Schreiben Sie eine Beschreibung mit höchstens ${most}0 Zeichen`,
      description_signs: 'Schreiben Sie die Beschreibung ohne Steuerzeichen',
      no_day:
        'Schreiben Sie den Tag als Jahr-Monat-Tag, zum Beispiel 2030-12-31, oder lassen Sie ihn leer',
      past_day: 'Wählen Sie heute oder einen späteren Tag, oder lassen Sie ihn leer',
      late_day: (day: string) =>
        `Sie sind mit einem Token angemeldet, das bis ${day} gilt; wählen Sie diesen Tag oder einen früheren`,
    },
  },
} as const
