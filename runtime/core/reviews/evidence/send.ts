/** Sending evidence: a file is generated while it is sent, in one transaction with one snapshot. */
import { CoreError } from '../../../contract/errors/problem.ts'
import type { Db } from '../../../database/database.ts'
import { DEFAULT_LANGUAGE, type Language } from '../../../words/languages.ts'
import { chainWaiting } from '../../kernel/audit/unchained-entries.ts'
import type { RequestContext } from '../../kernel/context/context.ts'
import type { FileAnswer } from '../../kernel/file-answer.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { getPersonalSettings } from '../../mail/settings.ts'
import { longStatements } from '../../sync/runs.ts'
import type { EvidenceLine } from './content.ts'
import { writeEvidence } from './form.ts'
import { createPage } from './page.ts'

/** Maximum number of files sent at once. Each holds a database connection and a snapshot until it is sent. */
const MAX_CONCURRENT = 2
/** Maximum time for a receiver to take a chunk, in milliseconds. */
const PATIENCE_MS = 60_000
let sent = 0

type Evidence = {
  /** Caller. The page is in their language. */
  by: Pick<Principal, 'domainId' | 'userId'>
  /** Name of the file. */
  name: string
  /** Fields of the log line if it is not sent completely. */
  about: Record<string, string>
  /** Logs that evidence is taken. */
  note(tx: Db): Promise<void>
  /** Returns all lines but the page and the seal. */
  lines(tx: Db, takenAt: Date): AsyncGenerator<EvidenceLine>
}

/** Sends evidence. Logs that first. @throws CoreError `too_many_requests` while others are sent */
export async function sendSealed(
  db: Db,
  { by, name, about, note, lines }: Evidence,
  deps: RequestContext,
): Promise<FileAnswer> {
  if (sent >= MAX_CONCURRENT)
    throw new CoreError(
      'too_many_requests',
      `This host is already sending ${MAX_CONCURRENT} files of evidence; try again later`,
      {
        retryAfterSeconds: 30,
      },
    )
  sent += 1
  let language: Language
  try {
    language = (await getPersonalSettings(db, by)).language ?? DEFAULT_LANGUAGE
    await db.transaction(note)
    await chainWaiting(db, by.domainId)
  } catch (error) {
    sent -= 1
    throw error
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const receiver = writable.getWriter()
  const gone = () => void receiver.abort(new Error('the caller is gone')).catch(() => {})
  deps.signal.addEventListener('abort', gone, { once: true })
  const begun = Promise.withResolvers<void>()
  let isBegun = false
  async function put(bytes: Buffer): Promise<void> {
    isBegun = true
    begun.resolve()
    await soon(receiver.write(bytes))
  }
  const work = async (tx: Db): Promise<void> => {
    // A transaction may be retried, but bytes that were sent cannot be recalled.
    if (isBegun) throw new Error('evidence was begun already')
    await tx.execute(longStatements)
    const writer = writeEvidence(deps.signer, put)
    const page = createPage(deps.signer.key.fingerprint, language)
    for await (const { kind, content } of lines(tx, await deps.now(tx))) {
      page.take(kind, content)
      await writer.add(kind, content)
    }
    for (const content of page.parts()) await writer.add('page', content)
    await writer.seal()
    await soon(receiver.close())
  }
  db.transaction(work, { isolationLevel: 'repeatable read', accessMode: 'read only' })
    .catch((error) => {
      begun.reject(error)
      if (isBegun) deps.tell('warn', about, 'evidence was not sent whole')
      // The truncated file has no seal, and so is not valid evidence.
      return receiver.abort(error)
    })
    .catch(() => {})
    .finally(() => {
      deps.signal.removeEventListener('abort', gone)
      sent -= 1
    })
  await begun.promise
  return { name, media: 'application/x-ndjson', body: readable }
}

/** Waits until a chunk is taken. @throws Error if the receiver takes too long */
async function soon(taken: Promise<void>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(reject, PATIENCE_MS, new Error('the receiver takes nothing any more'))
  try {
    await Promise.race([taken, late])
  } finally {
    clearTimeout(timer)
  }
}
