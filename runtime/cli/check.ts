/** `keyway check`: says everything that is wrong with connectors' folders. */

import { openCheckBench } from '../testing/check-connector.ts'
import type { CheckResult } from '../testing/check-result.ts'
import { counted } from './counted.ts'

export async function check(directories: string[], { json }: { json?: true }): Promise<void> {
  const bench = await openCheckBench()
  const results: (CheckResult & { directory: string })[] = []
  try {
    for (const directory of directories) {
      const result = { directory, ...(await bench.check(directory)) }
      results.push(result)
      if (!json) printCheck(result)
    }
  } finally {
    await bench.close()
  }
  if (json) console.log(JSON.stringify(results, null, 2))
  if (results.some(({ ok }) => !ok)) process.exitCode = 1
}

/** The findings of one folder, for people. */
export function printCheck({
  directory,
  ok,
  id,
  version,
  findings,
  passed,
}: CheckResult & { directory: string }): void {
  const named = id === null ? directory : `${id} ${version ?? ''}`.trim()
  console.log(
    `${ok ? 'ok  ' : 'FAIL'} ${named}: ${counted(passed.length, 'case')} passed, ${counted(findings.length, 'finding')}`,
  )
  for (const [index, { severity, where, message }] of findings.entries()) {
    const before = findings[index - 1]
    if (before?.where !== where || before.severity !== severity)
      console.log(`  ${severity} in ${where}:`)
    console.log(`    ${message.replaceAll('\n', '\n    ')}`)
  }
}
