/** Which function answers which operator's endpoint of mail. */

import type { MAIL_ENDPOINTS } from '../../contract/endpoints/mail.ts'
import { mailStatus, sendTestMail } from '../../core/mail/operate.ts'
import type { OperatorHandler } from './handler.ts'

type Handlers = { [N in keyof typeof MAIL_ENDPOINTS]: OperatorHandler<N> }

export const MAIL_HANDLERS: Handlers = {
  mail_status: ({ db, post }) => mailStatus(db, post),
  test_mail: ({ db, actor, post }, { body }) => sendTestMail(db, actor, post, body),
}
