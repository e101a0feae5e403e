/**
 * Verdicts on folders, from the store or by inspection. One folder at a time, because inspection is expensive
 * and calls come first. The same files are inspected once, regardless of their folder.
 */
import { createCache } from '../../bounded/cache.ts'
import { type RuntimeCode, RuntimeError } from '../../contract/errors/errors.ts'
import type { Folder } from './folder.ts'
import { type Inspection, type Inspector, inspect } from './inspect.ts'
import type { Store, StoredVerdict } from './store.ts'

type Judge = (folder: Folder) => Promise<StoredVerdict>

/** Number of failed inspections that become the verdict. */
const MAX_FAILURES = 2

/**
 * Failures that the machine may have caused. A connector whose loading hangs in native code always ends this
 * way.
 */
const MAY_PASS: readonly RuntimeCode[] = ['deadline_passed', 'worker_died']

export function createJudge(inspector: Inspector, store: Store): Judge {
  const underWay = new Map<string, Promise<StoredVerdict>>()
  /** Number of failed inspections of a digest. */
  const failures = createCache<number>('check_failures', { bytesOf: () => 8 })
  let queue: Promise<unknown> = Promise.resolve()

  /** Waits for its turn. After a failed inspection it queues again. */
  async function judge(folder: Folder): Promise<StoredVerdict> {
    for (;;) {
      const turn = queue.then(() => attempt(folder))
      queue = turn.catch(() => undefined)
      const verdict = await turn
      if (verdict !== null) return verdict
    }
  }

  /** Returns the verdict, or null if the inspection failed and must be retried. */
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

/**
 * Returns the verdict for code that cannot be loaded. It is stored, or each start would wait for it again.
 */
function unloadable({ files }: Folder, { message }: RuntimeError): Inspection {
  // Checked before: the code is loaded only if the manifest is valid.
  const { id, version } = JSON.parse(String(files.get('connector.json')))
  const finding = `connector.ts: could not be loaded in ${MAX_FAILURES} tries: ${message}; change a file of the folder to have it checked again`
  return { ok: false, findings: [finding], id, version }
}
