import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { CheckResult } from './check-result.ts'

/** The command, beside the sources and beside what is built of them. */
const KEYWAY = ['../cli/keyway.mjs', '../../runtime/cli/keyway.mjs']
  .map((file) => fileURLToPath(new URL(file, import.meta.url)))
  .find((file) => existsSync(file))

/** Longest answer of a check, in bytes. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/**
 * Checks a connector's folder, as `keyway check` does, and says everything that it found. The check runs in a
 * process of its own, on the Node that came with the package: the caller's may be an older one.
 *
 * @throws Error where no Node is there that is new enough; the message says what to do
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
    // No check came to an end: what was printed says why.
    return null
  }
}
