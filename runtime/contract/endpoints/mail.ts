/** Mail as operators see and try it: rows of OPERATOR_ENDPOINTS. */
import * as v from 'valibot'
import { MAIL_KIND_NAMES } from '../models/mail.ts'
import { PERSONAL_LANGUAGES } from '../models/personal-settings.ts'
import { described, strictObject } from '../schema/schemas.ts'
import { row } from './operator-row.ts'

/** Longest address of mail, in characters (RFC 5321). */
export const MAX_ADDRESS = 254

const Refused = v.strictObject({
  at: v.string(),
  email: described(v.string(), 'The address it was for'),
  kind: v.picklist(MAIL_KIND_NAMES),
  problem: described(v.string(), 'What the server said'),
})

export const MailStatus = strictObject('MailStatus', 'How mail stands', {
  server: described(v.nullable(v.string()), 'Host and port; null where no server is set'),
  from: described(v.nullable(v.string()), 'The address that mail comes from'),
  waiting: described(v.number(), 'Mails that are due and not sent, counted up to 10,000'),
  failing: described(v.number(), 'Those of them that were tried and put off'),
  problem: described(v.nullable(v.string()), 'Why the latest of those was put off'),
  refused: described(v.array(Refused), 'The latest 20 that were refused, within a week'),
})
export type MailStatus = v.InferOutput<typeof MailStatus>

export const MailTested = strictObject('MailTried', 'How a test of mail ended', {
  ok: described(v.boolean(), 'Whether the server took it'),
  server: v.string(),
  ms: described(v.number(), 'How long it took, in milliseconds'),
  problem: described(v.nullable(v.string()), 'What is wrong, as text'),
  message_id: described(v.string(), 'By which the server’s own log has it'),
})
export type MailTested = v.InferOutput<typeof MailTested>

export const MAIL_ENDPOINTS = {
  mail_status: row.get('/mail', {
    summary: 'Say where mail goes, what waits, and what was refused',
    output: MailStatus,
  }),
  test_mail: row.post('/mail/test', {
    summary: 'Send one mail now, and say how the server answered',
    body: v.object({
      email: described(
        v.pipe(v.string(), v.minLength(3), v.maxLength(MAX_ADDRESS)),
        'Where it goes',
      ),
      language: v.optional(v.picklist(PERSONAL_LANGUAGES), 'en'),
    }),
    output: MailTested,
    errors: [409, 413, 415, 422],
  }),
} as const
