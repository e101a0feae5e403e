/** Status and test of mail for operators: rows of OPERATOR_ENDPOINTS. */
import * as v from 'valibot'
import { MAIL_KIND_NAMES } from '../models/mail.ts'
import { PERSONAL_LANGUAGES } from '../models/personal-settings.ts'
import { described, strictObject } from '../schema/schemas.ts'
import { row } from './operator-row.ts'

/** Maximum length of a mail address, in characters (RFC 5321). */
export const MAX_ADDRESS = 254

const Refused = v.strictObject({
  at: v.string(),
  email: described(v.string(), 'Recipient'),
  kind: v.picklist(MAIL_KIND_NAMES),
  problem: described(v.string(), 'Response of the server'),
})

export const MailStatus = strictObject('MailStatus', 'Status of outgoing mail', {
  server: described(v.nullable(v.string()), 'Host and port; null if no server is set'),
  from: described(v.nullable(v.string()), 'Sender address'),
  waiting: described(v.number(), 'Mails that are due and not sent, counted up to 10,000'),
  failing: described(v.number(), 'Waiting mails whose delivery failed and is retried'),
  problem: described(v.nullable(v.string()), 'Why the latest of those failed'),
  refused: described(v.array(Refused), 'The latest 20 that were refused, within a week'),
})
export type MailStatus = v.InferOutput<typeof MailStatus>

export const MailTested = strictObject('MailTried', 'Result of a mail test', {
  ok: described(v.boolean(), 'Whether the server accepted it'),
  server: v.string(),
  ms: described(v.number(), 'Duration, in milliseconds'),
  problem: described(v.nullable(v.string()), 'Error as text'),
  message_id: described(v.string(), 'Message id, to find it in the server’s log'),
})
export type MailTested = v.InferOutput<typeof MailTested>

export const MAIL_ENDPOINTS = {
  mail_status: row.get('/mail', {
    summary: 'Show the mail server, waiting mail and refused mail',
    output: MailStatus,
  }),
  test_mail: row.post('/mail/test', {
    summary: 'Send one mail now, and show the response of the server',
    body: v.object({
      email: described(v.pipe(v.string(), v.minLength(3), v.maxLength(MAX_ADDRESS)), 'Recipient'),
      language: v.optional(v.picklist(PERSONAL_LANGUAGES), 'en'),
    }),
    output: MailTested,
    errors: [409, 413, 415, 422],
  }),
} as const
