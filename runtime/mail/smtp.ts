/** Sends mail by SMTP, always encrypted: STARTTLS where the server is named by `smtp:`, TLS from the start by `smtps:`. */
import { isIP } from 'node:net'
import type { MailServer } from '../config/mail-server.ts'
import type { Letter, Post, Posted } from '../core/kernel/context/post.ts'

/** How long the server may take for an answer, in milliseconds; a whole message may take as many times `STEPS`. */
type SmtpPace = { answerMs: number }
const STEPS = 4

/** Certificates that are trusted in addition to those of the system; for tests, operators name theirs in NODE_EXTRA_CA_CERTS. */
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
    // One connection for each message: mail is rare, and a server that hangs holds up nothing else.
    // Loaded for the first mail: it takes as long as a tenth of a host's start.
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

/** The message: everything in it is given in parts, so that no text can begin a header of its own. */
const messageOf = (
  { to, subject, text, html, messageId, language }: Letter,
  from: MailServer['from'],
  origin: string,
) => ({
  // A copy: nodemailer writes into it.
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

/** What is said of a failure that has no reply. The words of Node name addresses and certificates, no secrets. */
const WORDS: Readonly<Record<string, string>> = {
  EDNS: 'the name of the server is not found',
  ECONNECTION: 'the server cannot be reached',
  ESOCKET: 'the connection failed',
  ETIMEDOUT: 'the server did not answer in time',
  ETLS: 'the server offers no encryption',
  EAUTH: 'the server refused the user name or the password',
}

/** Commands whose refusal concerns this message; what is refused at any other is for the operator to put right. */
const OF_THE_MESSAGE = ['RCPT TO', 'DATA']

type Failure = { code?: string; command?: string; responseCode?: number; message: string }

/** How a failure counts. A sender or a password that is refused keeps its mail: it goes out once that is put right. */
function failedBy(error: unknown, hide: (text: string) => string = (text) => text): Posted {
  if (error instanceof Late)
    return { ok: false, ends: false, problem: 'the server did not answer in time' }
  // The cast: what nodemailer throws is an error with these members.
  const { code = '', command = '', responseCode = 0, message } = error as Failure
  const ends =
    responseCode >= 500 &&
    (OF_THE_MESSAGE.some((one) => command.startsWith(one)) || code === 'EMESSAGE')
  const words = WORDS[code]
  const said = hide(message).replace(/\s+/g, ' ').slice(0, 400)
  return { ok: false, ends, problem: words === undefined ? said : `${words}: ${said}` }
}
