/** The code of worker processes, built once per run of the tests. */
import path from 'node:path'
import { buildWorker, type WorkerBundle } from '../../runtime/lanes/worker-bundle.ts'

/** Variable with the built code, as JSON. */
const VARIABLE = 'KEYWAY_TESTS_WORKER'

/** Builds the code into a folder, at the beginning of a run. */
export async function buildOnce(folder: string): Promise<void> {
  process.env[VARIABLE] = JSON.stringify(await buildWorker(path.join(folder, 'worker')))
}

/** Returns the built code, for a test. */
export function workerOfTests(): WorkerBundle {
  const built = builtWorker()
  if (!built) throw new Error('the test run has not built the code of workers')
  return built
}

/** Returns the built code, or undefined outside of a test run. A host then builds its own. */
export function builtWorker(): WorkerBundle | undefined {
  const built = process.env[VARIABLE]
  // Written by `buildOnce`.
  return built === undefined ? undefined : (JSON.parse(built) as WorkerBundle)
}
