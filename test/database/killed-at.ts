/**
 * Runs one operation on a database in its own process, which kills itself at a step: `killed-at.ts WHAT STEP
 * ...`. A step is a query, a file rename, or a part of a backup. At odd steps the process is killed before
 * the step, at even steps right after the step has started. With step 0 it completes and prints how many
 * steps there were.
 */
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { Client } from 'pg'
import { agreeOnSecret } from '../../runtime/core/kernel/deployment/deployment.ts'
import { backup } from '../../runtime/database/backup/backup.ts'
import { restore } from '../../runtime/database/backup/restore.ts'
import { openDatabase } from '../../runtime/database/open.ts'
import { resealAll } from '../../runtime/rotation/rotate-secrets.ts'
import { backupKey, keyId } from '../../runtime/secrets/key-derivation.ts'
import { createSealer } from '../../runtime/secrets/seal.ts'

const [what = '', step = '0', ...args] = process.argv.slice(2)
const [one = '', two = '', three = ''] = args

let steps = 0
function stepped<T>(does: () => T): T {
  steps += 1
  if (steps !== Number(step)) return does()
  const begun = steps % 2 === 0 ? does() : undefined
  process.kill(process.pid, 'SIGKILL')
  return begun ?? does()
}

const query = Client.prototype.query
Client.prototype.query = new Proxy(query, {
  apply: (target, self, given) => stepped(() => Reflect.apply(target, self, given)),
})
const rename = fs.rename
fs.rename = (from, to) => stepped(() => rename(from, to))
syncBuiltinESMExports()

const signal = new AbortController().signal
const keyOf = (secret: string) => ({ id: keyId(secret), sealKey: backupKey(secret) })

const DOES: Record<string, () => Promise<unknown>> = {
  /** Arguments: URL. */
  async migrate() {
    const opened = await openDatabase({ connectionString: one }, () => {})
    await opened.close()
  },
  /** Arguments: URL, secrets. */
  async rotate() {
    const opened = await openDatabase({ connectionString: one }, () => {})
    steps = 0
    const secrets = two.split(',')
    await agreeOnSecret(opened.db, secrets)
    const vault = createSealer(secrets, 'connection')
    await resealAll(opened.db, vault, { signal, info: () => {}, warn: () => {} })
    const ended = steps
    await opened.close()
    steps = ended
  },
  /** Arguments: URL, unused, file. */
  backup: () =>
    backup({
      connection: { connectionString: one },
      file: three,
      force: false,
      keys: [keyOf('a'.repeat(40))],
      version: '1.2.3',
      signal,
      onProgress: () => stepped(() => {}),
    }),
  /** Arguments: data directory, file, password. */
  restore: () =>
    restore({
      dataDir: one,
      file: two,
      force: true,
      keys: [keyOf('a'.repeat(40))],
      password: async () => three,
      signal,
      tell: () => stepped(() => {}),
      onProgress: () => stepped(() => {}),
    }),
}

await DOES[what]?.()
console.log(steps)
