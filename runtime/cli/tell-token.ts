/** Where the operator's token is; the token itself is shown to people only: a log is read by others. */

import type { Host } from '../main.ts'
import type { Log } from '../observe/log.ts'

/** Says nothing where the operator has set it. */
export function tellToken({ adminToken, adminTokenFile: file }: Host, log: Log): void {
  if (file === null) return
  log.info({ file }, 'the operator token is in this file')
  if (process.stdout.isTTY) process.stdout.write(`\n  operator token: ${adminToken}\n\n`)
}
