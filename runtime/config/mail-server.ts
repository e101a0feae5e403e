/** The mail server, as configured by KEYWAY_MAIL_... and KEYWAY_PUBLIC_URL. */

import type { Language } from '../words/languages.ts'

export type MailServer = Readonly<{
  host: string
  port: number
  /** TLS from the start if true, otherwise STARTTLS, without which nothing is sent. */
  implicitTls: boolean
  /** Null if the server requires no login. */
  user: string | null
  password: string
  from: Readonly<{ name: string; address: string }>
  /** Origin at which people reach the pages, without a trailing slash. */
  origin: string
  /** Language of mail to people who have chosen none. */
  language: Language
}>

type Given = {
  server: string
  password: string
  from: string
  publicUrl: string
  language: Language
}

const SERVER = /^(smtps?):\/\/[^/?#]+\/?$/
const ADDRESS = /^[^\s@<>,;:"]+@[a-zA-Z0-9.-]+$/
const FROM = /^(?:([^<>\r\n"]{0,100}?)\s*<([^<>\s]+)>|([^<>\s]+))$/

/** Returns what is wrong with an address such as `smtp://user@mail.example:587`, or null. */
export function wrongServer(given: string): string | null {
  if (given === '') return null
  const url = SERVER.test(given) ? URL.parse(given) : null
  if (!url?.hostname) return 'is not an address such as smtp://user@mail.acme.example:587'
  return url.password === '' ? null : 'contains a password: put it into KEYWAY_MAIL_PASSWORD'
}

/** Splits a sender such as `Keyway <keyway@acme.example>` into name and address. Null if it is malformed. */
function senderOf(given: string): MailServer['from'] | null {
  const [, name = '', bracketed, bare] = FROM.exec(given) ?? []
  const address = bracketed ?? bare ?? ''
  return ADDRESS.test(address) ? { name: name || 'Keyway', address } : null
}

/** Returns what is wrong with a sender, or null. */
export const wrongSender = (given: string): string | null =>
  given === '' || senderOf(given) ? null : 'is not an address such as Keyway <keyway@acme.example>'

/** Returns what is wrong with the address of the pages, or null. */
export function wrongPublicUrl(given: string): string | null {
  if (given === '') return null
  const url = /^https?:\/\//.test(given) ? URL.parse(given) : null
  const isPlain = url !== null && url.pathname === '/' && url.search === '' && url.hash === ''
  return isPlain && url.username === ''
    ? null
    : 'is not an address such as https://keyway.acme.example, without a path'
}

/** Returns the mail server, or null if none is set. Calls `onWrong` for settings that do not fit together. */
export function mailServerOf(
  { server, password, from, publicUrl, language }: Given,
  onWrong: (words: string) => void,
): MailServer | null {
  if (server === '') {
    if (password !== '') onWrong('KEYWAY_MAIL_PASSWORD: is set without KEYWAY_MAIL_SERVER')
    return null
  }
  const url = URL.parse(server)
  const sender = senderOf(from)
  if (!sender)
    onWrong(
      'KEYWAY_MAIL_FROM: is required with KEYWAY_MAIL_SERVER, such as Keyway <keyway@acme.example>',
    )
  if (publicUrl === '')
    onWrong('KEYWAY_PUBLIC_URL: is required with KEYWAY_MAIL_SERVER: links in mails lead there')
  const user = url?.username ? decodeURIComponent(url.username) : null
  if (user !== null && password === '')
    onWrong('KEYWAY_MAIL_PASSWORD: is required, because KEYWAY_MAIL_SERVER names a user')
  if (user === null && password !== '')
    onWrong('KEYWAY_MAIL_SERVER: names no user for KEYWAY_MAIL_PASSWORD; write smtp://user@...')
  const origin = URL.parse(publicUrl)?.origin
  if (!url || !sender || origin === undefined) return null
  const implicitTls = url.protocol === 'smtps:'
  return Object.freeze({
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port || (implicitTls ? 465 : 587)),
    ...{ implicitTls, user, password, origin, language },
    from: Object.freeze(sender),
  })
}
