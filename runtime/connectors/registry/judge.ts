/**
 * Verdicts on folders: the one that is kept, or a new one. One folder at a time, because checking is
 * heavy and calls come first; the same files are judged once, wherever they lie.
 */
import { createCache } from '../../bounded/cache.ts'
import { type RuntimeCode, RuntimeError } from '../../contract/errors/errors.ts'
import type { Folder } from './folder.ts'
import { type Inspection, type Inspector, inspect } from './inspect.ts'
import type { Store, StoredVerdict } from './store.ts'

type Judge = (folder: Folder) => Promise<StoredVerdict>

/** How often a check may fail before that is the verdict. */
const MAX_FAILURES = 2

/** Failures that may be the machine's doing once; a connector whose load hangs natively ends so always. */
const MAY_PASS: readonly RuntimeCode[] = ['deadline_passed', 'worker_died']

export function createJudge(inspector: Inspector, store: Store): Judge {
  const underWay = new Map<string, Promise<StoredVerdict>>()
  /** How often the check of a digest failed. */
  const failures = createCache<number>('check_failures', { bytesOf: () => 8 })
  let queue: Promise<unknown> = Promise.resolve()

  /** Waits for its turn; a check that failed takes another one, behind those that wait. */
  async function judge(folder: Folder): Promise<StoredVerdict> {
    for (;;) {
      const turn = queue.then(() => attempt(folder))
      queue = turn.catch(() => undefined)
      const verdict = await turn
      if (verdict !== null) return verdict
    }
  }

  /** The verdict, or null where the check failed and is to be tried again. */
  async function attempt(folder: Folder): Promise<StoredVerdict | null> {
    const { digest } = folder
    const verdict = await inspect(folder, inspector).catch((error: unknown) => {
      if (!(error instanceof RuntimeError) || !MAY_PASS.includes(error.code)) throw error
      const failed = (failures.get(digest) ?? 0) + 1
      failures.set(digest, failed)
      return failed < MAX_FAILURES ? null : unloadable(folder, error)
    })
    if (verdict === null) return null
    failures.delete(digest)
    await store.keep(digest, verdict)
    return verdict
  }

  return (folder) => {
    const { digest } = folder
    const known = underWay.get(digest)
    if (known !== undefined) return known
    const made = judge(folder).finally(() => underWay.delete(digest))
    underWay.set(digest, made)
    return made
  }
}

/** Kept, or each start would wait for it again. */
function unloadable({ files }: Folder, { message }: RuntimeError): Inspection {
  // Judged before: the manifest is good, or the code would not have been loaded.
  const { id, version } = JSON.parse(String(files.get('connector.json')))
  const finding = `connector.ts: could not be loaded in ${MAX_FAILURES} tries: ${message}; change a file of the folder to have it checked again`
  return { ok: false, findings: [finding], id, version }
}
