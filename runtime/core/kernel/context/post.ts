/** Interface of the core for sending mail, as a function that main passes in. */

import type { Language } from '../../../words/languages.ts'

export type Letter = {
  to: string
  subject: string
  text: string
  html: string
  /** Message id without angle brackets. A message that is sent again has the same id. */
  messageId: string
  language: string
}

/**
 * Result of sending. `ends` is true if the server refuses the message for good. Otherwise a retry may
 * succeed.
 */
export type Posted = { ok: true } | { ok: false; ends: boolean; problem: string }

export type Post = {
  /** Host and port of the mail server. */
  server: string
  /** Sender address. */
  from: string
  /** Base URL of the pages, without a trailing slash. */
  origin: string
  /** Language of mail to people who chose none. */
  language: Language
  /** Sends a letter once. Failures are returned, not thrown. */
  send(letter: Letter): Promise<Posted>
}
