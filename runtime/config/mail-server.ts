/** The mail server, as the settings KEYWAY_MAIL_... and KEYWAY_PUBLIC_URL say. */

import type { Language } from '../words/languages.ts'

export type MailServer = Readonly<{
  host: string
  port: number
  /** TLS from the start; else STARTTLS, without which nothing is sent. */
  implicitTls: boolean
  /** Null: the server asks for none. */
  user: string | null
  password: string
  from: Readonly<{ name: string; address: string }>
  /** Where people reach the pages, without a slash at the end. */
  origin: string
  /** Of mail to people who chose none. */
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

/** What is wrong with an address such as `smtp://user@mail.example:587`; null for nothing. */
export function wrongServer(given: string): string | null {
  if (given === '') return null
  const url = SERVER.test(given) ? URL.parse(given) : null
  if (!url?.hostname) return 'is not an address such as smtp://user@mail.acme.example:587'
  return url.password === '' ? null : 'holds a password: write it into KEYWAY_MAIL_PASSWORD'
}

/** The name and the address of `Keyway <keyway@acme.example>`; null for what is neither. */
function senderOf(given: string): MailServer['from'] | null {
  const [, name = '', bracketed, bare] = FROM.exec(given) ?? []
  const address = bracketed ?? bare ?? ''
  return ADDRESS.test(address) ? { name: name || 'Keyway', address } : null
}

/** What is wrong with an address that mail comes from; null for nothing. */
export const wrongSender = (given: string): string | null =>
  given === '' || senderOf(given) ? null : 'is not an address such as Keyway <keyway@acme.example>'

/** What is wrong with the address of the pages; null for nothing. */
export function wrongPublicUrl(given: string): string | null {
  if (given === '') return null
  const url = /^https?:\/\//.test(given) ? URL.parse(given) : null
  const isPlain = url !== null && url.pathname === '/' && url.search === '' && url.hash === ''
  return isPlain && url.username === ''
    ? null
    : 'is not an address such as https://keyway.acme.example, without a path'
}

/** The server; null where none is set. What is wrong with how the settings go together is told to `onWrong`. */
export function mailServerOf(
  { server, password, from, publicUrl, language }: Given,
  onWrong: (words: string) => void,
): MailServer | null {
  if (server === '') {
    if (password !== '')
      onWrong('KEYWAY_MAIL_PASSWORD: there is no KEYWAY_MAIL_SERVER that it is for')
    return null
  }
  const url = URL.parse(server)
  const sender = senderOf(from)
  if (!sender)
    onWrong(
      'KEYWAY_MAIL_FROM: is needed with KEYWAY_MAIL_SERVER, such as Keyway <keyway@acme.example>',
    )
  if (publicUrl === '')
    onWrong('KEYWAY_PUBLIC_URL: is needed with KEYWAY_MAIL_SERVER: links in mails lead there')
  const user = url?.username ? decodeURIComponent(url.username) : null
  if (user !== null && password === '')
    onWrong('KEYWAY_MAIL_PASSWORD: is needed, because KEYWAY_MAIL_SERVER names a user')
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
