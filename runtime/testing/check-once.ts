import { openCheckBench } from './check-connector.ts'
import type { CheckResult } from './check-result.ts'

/**
 * Checks a connector's folder and says everything that it found.
 *
 * @example
 * const result = await checkConnector('plugins/acme')
 * assert(result.ok, result.findings.map(({ message }) => message).join('\n'))
 */
export async function checkConnector(directory: string): Promise<CheckResult> {
  const bench = await openCheckBench()
  try {
    return await bench.check(directory)
  } finally {
    await bench.close()
  }
}
