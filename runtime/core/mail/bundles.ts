/** Grouping of a person's mails into messages. Pure. */
import { MAIL_KINDS, type MailKind } from '../../contract/models/mail.ts'
import type { MailChoice } from '../../contract/models/personal-settings.ts'

/** Maximum number of due mails that are sent as separate messages. More of them are sent as one. */
export const MAX_SEPARATE_MAILS = 3

type Row = { id: string; kind: MailKind; messageId: string | null }

/**
 * Groups mails by message id, ordered by the oldest mail of each message. A mail that is already part of a
 * message stays in it.
 *
 * @param newId Returns the id of a message with several mails. A message with a single mail has the mail's
 *   id.
 */
export function bundlesOf<R extends Row>(
  rows: readonly R[],
  choice: MailChoice,
  newId: () => string,
): Map<string, R[]> {
  const mayJoin = ({ kind, messageId }: Row) => messageId === null && MAIL_KINDS[kind].digest
  const joining = rows.filter(mayJoin)
  const isOne = joining.length > 1 && (choice === 'DIGEST' || joining.length > MAX_SEPARATE_MAILS)
  const shared = isOne ? newId() : null
  const bundles = new Map<string, R[]>()
  for (const row of rows) {
    const id = row.messageId ?? (shared !== null && mayJoin(row) ? shared : row.id)
    bundles.set(id, [...(bundles.get(id) ?? []), row])
  }
  return bundles
}
