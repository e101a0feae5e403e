/** What the core needs to send mail, as a function that main hands in. */

import type { Language } from '../../../words/languages.ts'

export type Letter = {
  to: string
  subject: string
  text: string
  html: string
  /** Without angle brackets; the same for the same message sent again. */
  messageId: string
  language: string
}

/** How it was answered. `ends`: the server refuses it for good; else it may be tried again. */
export type Posted = { ok: true } | { ok: false; ends: boolean; problem: string }

export type Post = {
  /** Host and port of the server. */
  server: string
  /** The address that mail comes from. */
  from: string
  /** Where people reach the pages, without a slash at the end. */
  origin: string
  /** Of mail to people who chose none. */
  language: Language
  /** Sends it once. What goes wrong is an answer. */
  send(letter: Letter): Promise<Posted>
}
