/** Taking evidence of a review: a file that is made while it is sent. */
import { CoreError } from '../../../contract/errors/problem.ts'
import type { Db } from '../../../database/database.ts'
import { chainWaiting } from '../../kernel/audit/waiting.ts'
import type { RequestContext } from '../../kernel/context/context.ts'
import type { FileAnswer } from '../../kernel/file-answer.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { longStatements } from '../../sync/runs.ts'
import { findReview, note } from '../rows.ts'
import { evidenceLines } from './content.ts'
import { writeEvidence } from './form.ts'

/** Files that a host sends at once: each has a connection to the database, and one moment of it, until it was sent. */
const MOST = 2
/** How long a receiver may take for a piece, in milliseconds. */
const PATIENCE_MS = 60_000
let sent = 0

/**
 * Evidence as it is at one moment, also while decisions come in; that it was taken is in the log, and so in the file.
 *
 * @throws CoreError 404, 429 while others are sent.
 */
export async function takeEvidence(
  db: Db,
  principal: Principal,
  id: string,
  means: RequestContext,
): Promise<FileAnswer> {
  const { domainId } = principal
  const found = await findReview(db, principal, id)
  if (sent >= MOST)
    throw new CoreError(429, `This host sends ${MOST} files of evidence already; try again`, {
      'retry-after': '30',
    })
  sent += 1
  try {
    await db.transaction((tx) =>
      note(tx, principal, found, 'EVIDENCE_TAKEN', { key: means.signer.key.fingerprint }),
    )
    await chainWaiting(db, domainId)
  } catch (error) {
    sent -= 1
    throw error
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const receiver = writable.getWriter()
  const gone = () => void receiver.abort(new Error('the caller is gone')).catch(() => {})
  means.signal.addEventListener('abort', gone, { once: true })
  const begun = Promise.withResolvers<void>()
  let isBegun = false
  async function put(bytes: Buffer): Promise<void> {
    isBegun = true
    begun.resolve()
    await soon(receiver.write(bytes))
  }
  const work = async (tx: Db): Promise<void> => {
    // A transaction may be tried again; what was sent of it cannot be taken back.
    if (isBegun) throw new Error('evidence was begun already')
    await tx.execute(longStatements)
    // Found in its moment: it may have changed since.
    const review = await findReview(tx, principal, id)
    const writer = writeEvidence(means.signer, put)
    for await (const { kind, content } of evidenceLines(tx, review, await means.now(tx)))
      await writer.add(kind, content)
    await writer.seal()
    await soon(receiver.close())
  }
  db.transaction(work, { isolationLevel: 'repeatable read', accessMode: 'read only' })
    .catch((error) => {
      begun.reject(error)
      if (isBegun)
        means.tell('warn', { access_review: id }, 'evidence of an access review was not sent whole')
      // Cut in the middle: it has no seal, and so is no evidence.
      return receiver.abort(error)
    })
    .catch(() => {})
    .finally(() => {
      means.signal.removeEventListener('abort', gone)
      sent -= 1
    })
  await begun.promise
  return { name: `keyway-review-${found.id}.jsonl`, media: 'application/x-ndjson', body: readable }
}

/** @throws Error where a receiver takes nothing for too long. */
async function soon(taken: Promise<void>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(reject, PATIENCE_MS, new Error('the receiver takes nothing any more'))
  try {
    await Promise.race([taken, late])
  } finally {
    clearTimeout(timer)
  }
}
