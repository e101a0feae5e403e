import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { CheckResult } from './check-result.ts'

/** Path of the command, either relative to the sources or to the built package. */
const KEYWAY = ['../cli/keyway.mjs', '../../runtime/cli/keyway.mjs']
  .map((file) => fileURLToPath(new URL(file, import.meta.url)))
  .find((file) => existsSync(file))

/** Maximum size of a check's output, in bytes. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/**
 * Checks a connector's folder like `keyway check` and returns all its findings. The check runs in a process
 * of its own, on the Node that came with the package, because the caller's may be older.
 *
 * @throws Error if no recent enough Node is found. The message says what to do.
 *
 * @example
 * const result = await checkConnector('plugins/acme')
 * assert(result.ok, result.findings.map(({ message }) => message).join('\n'))
 */
export function checkConnector(directory: string): Promise<CheckResult> {
  const command = [KEYWAY ?? '', 'check', '--json', '--', directory]
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: MAX_ANSWER_BYTES }
    execFile(process.execPath, command, options, (error, told, wrong) => {
      const result = resultIn(told)
      if (result !== null) resolve(result)
      else reject(new Error(wrong.trim() || told.trim() || error?.message))
    })
  })
}

function resultIn(told: string): CheckResult | null {
  try {
    const [one]: CheckResult[] = JSON.parse(told)
    if (one === undefined) return null
    const { ok, id, version, findings, passed } = one
    return { ok, id, version, findings, passed }
  } catch {
    // The check did not complete. Its output gives the reason.
    return null
  }
}
