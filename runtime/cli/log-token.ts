/**
 * Tells where the operator's token is. The token itself is shown only on a terminal, because others may read
 * the log.
 */

import type { Host } from '../main.ts'
import type { Log } from '../observe/log.ts'

/** Prints nothing if the operator has set the token. */
export function tellToken({ adminToken, adminTokenFile: file }: Host, log: Log): void {
  if (file === null) return
  log.info({ file }, 'the operator token is in this file')
  if (process.stdout.isTTY) process.stdout.write(`\n  operator token: ${adminToken}\n\n`)
}
