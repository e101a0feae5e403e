/** Which mails of a person go out as one message. Pure. */
import { MAIL_KINDS, type MailKind } from '../../contract/models/mail.ts'
import type { MailChoice } from '../../contract/models/personal-settings.ts'

/** Above so many that are due together, a person gets them as one. */
export const MOST_APART = 3

type Row = { id: string; kind: MailKind; messageId: string | null }

/**
 * Messages by their ids, in the order of their oldest mail. What was in a message that was tried stays in it.
 *
 * @param newId Makes the id of a message that carries several; one that carries a single mail has the mail's.
 */
export function bundlesOf<R extends Row>(
  rows: readonly R[],
  choice: MailChoice,
  newId: () => string,
): Map<string, R[]> {
  const mayJoin = ({ kind, messageId }: Row) => messageId === null && MAIL_KINDS[kind].digest
  const joining = rows.filter(mayJoin)
  const isOne = joining.length > 1 && (choice === 'DIGEST' || joining.length > MOST_APART)
  const shared = isOne ? newId() : null
  const bundles = new Map<string, R[]>()
  for (const row of rows) {
    const id = row.messageId ?? (shared !== null && mayJoin(row) ? shared : row.id)
    bundles.set(id, [...(bundles.get(id) ?? []), row])
  }
  return bundles
}
