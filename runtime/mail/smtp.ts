/**
 * Sends mail by SMTP, always encrypted: with STARTTLS for a server named by `smtp:`, with TLS from the start
 * for `smtps:`.
 */
import { isIP } from 'node:net'
import type { MailServer } from '../config/mail-server.ts'
import type { Letter, Post, Posted } from '../core/kernel/context/post.ts'

/**
 * Maximum time for a reply of the server, in milliseconds. A whole message may take `STEPS` times as long.
 */
type SmtpPace = { answerMs: number }
const STEPS = 4

/**
 * Certificates that are trusted in addition to the system's. For tests: operators set NODE_EXTRA_CA_CERTS.
 */
type Trust = { ca?: string }

export function createPost(
  { host, port, implicitTls, user, password, from, origin, language }: MailServer,
  { answerMs }: SmtpPace,
  { ca }: Trust = {},
): Post {
  const options = {
    host,
    port,
    secure: implicitTls,
    requireTLS: !implicitTls,
    ...(user === null ? {} : { auth: { user, pass: password } }),
    tls: {
      minVersion: 'TLSv1.2' as const,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(ca === undefined ? {} : { ca }),
    },
    connectionTimeout: answerMs,
    greetingTimeout: answerMs,
    socketTimeout: answerMs,
    dnsTimeout: answerMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  const hide = (text: string): string =>
    password.length < 4 ? text : text.replaceAll(password, '[secret]')

  async function send(letter: Letter): Promise<Posted> {
    // One connection per message: mail is rare, and a hanging server then delays nothing else. Nodemailer is
    // loaded for the first mail, because that takes a tenth of a host's start.
    const { createTransport } = await import('nodemailer')
    const transport = createTransport(options)
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(late.reject, answerMs * STEPS, new Late())
    try {
      await Promise.race([transport.sendMail(messageOf(letter, from, origin)), late.promise])
      return { ok: true }
    } catch (error) {
      return failedBy(error, hide)
    } finally {
      clearTimeout(timer)
      transport.close()
    }
  }

  return { server: `${host}:${port}`, from: from.address, origin, language, send }
}

class Late extends Error {}

/** Returns the message in parts, so that no text can start a header of its own. */
const messageOf = (
  { to, subject, text, html, messageId, language }: Letter,
  from: MailServer['from'],
  origin: string,
) => ({
  // A copy, because nodemailer writes into it.
  from: { ...from },
  to: { name: '', address: to },
  envelope: { from: from.address, to: [to] },
  subject: oneLine(subject),
  text,
  html,
  messageId: `<${oneLine(messageId)}>`,
  headers: {
    'Auto-Submitted': 'auto-generated',
    'X-Auto-Response-Suppress': 'All',
    'List-Unsubscribe': `<${origin}/settings/personal>`,
    'Content-Language': language,
  },
})

const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ')

/**
 * Descriptions of failures without a reply. Node's own messages contain addresses and certificates, but no
 * secrets.
 */
const WORDS: Readonly<Record<string, string>> = {
  EDNS: 'the name of the server is not found',
  ECONNECTION: 'the server cannot be reached',
  ESOCKET: 'the connection failed',
  ETIMEDOUT: 'the server did not answer in time',
  ETLS: 'the server offers no encryption',
  EAUTH: 'the server refused the user name or the password',
}

/**
 * Commands whose refusal concerns only this message. A refusal of any other command must be fixed by the
 * operator.
 */
const OF_THE_MESSAGE = ['RCPT TO', 'DATA']

type Failure = { code?: string; command?: string; responseCode?: number; message: string }

/**
 * Classifies a failure. Mail that is refused because of the sender or the password is kept, and is sent once
 * that is fixed.
 */
function failedBy(error: unknown, hide: (text: string) => string = (text) => text): Posted {
  if (error instanceof Late)
    return { ok: false, ends: false, problem: 'the server did not answer in time' }
  // The cast: nodemailer throws errors with these members.
  const { code = '', command = '', responseCode = 0, message } = error as Failure
  const ends =
    responseCode >= 500 &&
    (OF_THE_MESSAGE.some((one) => command.startsWith(one)) || code === 'EMESSAGE')
  const words = WORDS[code]
  const said = hide(message).replace(/\s+/g, ' ').slice(0, 400)
  return { ok: false, ends, problem: words === undefined ? said : `${words}: ${said}` }
}
