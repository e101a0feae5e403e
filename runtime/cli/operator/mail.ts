/** Verbs for mail. */
import type { MailStatus, MailTested } from '../../contract/endpoints/mail.ts'
import { inLines } from '../terminal/join-lines.ts'
import { EXIT, type ReadFlags } from '../terminal/options.ts'
import { ask, print } from './change.ts'

export async function show(flags: ReadFlags): Promise<void> {
  print(flags, await ask<MailStatus>(flags, '/operator/mail'), shown)
}

/** Sends a test mail. Sets exit code 1 if the server did not accept it. */
export async function askForTestMail(
  email: string,
  flags: ReadFlags & { language: string },
): Promise<void> {
  const body = { email, language: flags.language }
  const tried = await ask<MailTested>(flags, '/operator/mail/test', { body })
  print(flags, tried, ({ ok, server, ms, problem, message_id }) =>
    ok
      ? `${server} accepted it after ${ms} ms, as ${message_id}.`
      : `${server} did not accept it, after ${ms} ms: ${problem}`,
  )
  if (!tried.ok) process.exitCode = EXIT.refused
}

const shown = ({ server, from, waiting, failing, problem, refused }: MailStatus): string =>
  inLines([
    server === null
      ? 'No mail is sent: KEYWAY_MAIL_SERVER is not set.'
      : `Mail goes to ${server}, from ${from}.`,
    `Due but not sent: ${waiting}`,
    failing > 0 && `Put off by the server: ${failing}, the latest because ${problem}`,
    refused.length > 0 && 'Refused within a week:',
    ...refused.map((one) => `  ${one.at}  ${one.email}  ${one.kind}: ${one.problem}`),
  ])
