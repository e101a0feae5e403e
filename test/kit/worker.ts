/** The code of worker processes, built once for a run of the tests. */
import path from 'node:path'
import { buildWorker, type WorkerBundle } from '../../runtime/lanes/worker-bundle.ts'

/** Where the tests of a run find it. */
const VARIABLE = 'KEYWAY_TESTS_WORKER'

/** For the beginning of a run: builds it into a folder. */
export async function buildOnce(folder: string): Promise<void> {
  process.env[VARIABLE] = JSON.stringify(await buildWorker(path.join(folder, 'worker')))
}

/** What was built, for a test. */
export function workerOfTests(): WorkerBundle {
  const built = builtWorker()
  if (!built) throw new Error('no run of the tests has built the code of workers')
  return built
}

/** What was built; undefined in a program that is no test: then a host builds its own. */
export function builtWorker(): WorkerBundle | undefined {
  const told = process.env[VARIABLE]
  // Written by `buildOnce`.
  return told === undefined ? undefined : (JSON.parse(told) as WorkerBundle)
}
