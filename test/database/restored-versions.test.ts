/**
 * Restores backups of other versions: one of an older version is migrated, one of a later version refused.
 */
import { mkdtempSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../runtime/config/config.ts'
import { backup } from '../../runtime/database/backup/backup.ts'
import { restore } from '../../runtime/database/backup/restore.ts'
import { startEmbedded } from '../../runtime/database/embedded.ts'
import { openDatabase } from '../../runtime/database/open.ts'
import { PASSWORD_FILE } from '../../runtime/database/server-place.ts'
import { createHost } from '../../runtime/main.ts'
import { createLog } from '../../runtime/observe/log.ts'
import { backupKey, keyId } from '../../runtime/secrets/key-derivation.ts'
import { keptSecret } from '../../runtime/secrets/secret-files.ts'
import { VERSION } from '../../runtime/version.ts'
import { until } from '../e2e/until.ts'
import { withDatabase, withVerdicts } from '../kit/template.ts'
import { workerOfTests } from '../kit/worker.ts'
import { forgetDatabase } from './forget.ts'
import { loadKept, SECRET, STATES, TOKEN, withClient } from './kept.ts'

describe('a backup', () => {
  const dataDirs: string[] = []
  const key = { id: keyId(SECRET), sealKey: backupKey(SECRET) }
  const { signal } = new AbortController()

  function newDataDir(): string {
    const made = mkdtempSync(path.join(tmpdir(), 'keyway-backed-up-'))
    dataDirs.push(made)
    return made
  }
  afterAll(async () => {
    for (const one of dataDirs) {
      await forgetDatabase(one)
      // A compilation that the ended host started may still write its last file.
      await rm(one, { recursive: true, force: true, maxRetries: 10 })
    }
  })

  /**
   * Backs up an embedded server with a stored database. With `change`, the database is first migrated to this
   * version and changed by that statement.
   */
  async function madeOf(state: string, change = ''): Promise<string> {
    const from = newDataDir()
    await withDatabase(from)
    const password = readFileSync(path.join(from, 'database-password'), 'utf8').trim()
    const own = await startEmbedded({ dataDir: from, password, tell: () => {}, onLine: () => {} })
    const kept = await loadKept(own.connection, state)
    if (change !== '') {
      await (await openDatabase(kept, () => {})).close()
      await withClient(kept, (client) => client.query(change))
    }
    await withClient({ ...own.connection, database: 'postgres' }, async (client) => {
      await client.query('drop database keyway')
      await client.query(`alter database ${kept.database} rename to keyway`)
    })
    const file = path.join(from, 'backup.tar.gz')
    const { connection } = own
    const onProgress = () => {}
    const about = { force: false, keys: [key] as const, version: '0.0.1', signal, onProgress }
    await backup({ connection, file, ...about })
    await own.stop()
    return file
  }

  /**
   * Restores a backup, starts a host, and returns its answers once it is ready or reports that it cannot use
   * the database.
   */
  async function startedWith(file: string) {
    const dataDir = newDataDir()
    const password = async () => (await keptSecret(dataDir, PASSWORD_FILE)).value
    const told = { tell: () => {}, onProgress: () => {} }
    await restore({ dataDir, file, force: false, keys: [key], password, signal, ...told })
    withVerdicts(dataDir)
    const config = readConfig({
      KEYWAY_DATA_DIR: dataDir,
      KEYWAY_DROP_IN: 'off',
      KEYWAY_SECRET: SECRET,
      KEYWAY_ADMIN_TOKEN: TOKEN,
    })
    const host = await createHost(config, createLog('silent'), {}, { worker: workerOfTests() })
    const ask = async (target: string, headers = {}) => {
      const reply = await host.app.request(target, { headers: { host: 'localhost', ...headers } })
      return { status: reply.status, text: await reply.text() }
    }
    try {
      const ready = await until('the host serves or reports why not', async () => {
        const { status, text } = await ask('/readyz')
        return status === 200 || /cannot be/.test(text) ? { status, text } : null
      })
      return { ready, me: await ask('/users/current', { authorization: `Bearer ${TOKEN}` }) }
    } finally {
      await host.stop()
    }
  }

  test('of an older version is restored, and the next start migrates it', async () => {
    const { ready, me } = await startedWith(await madeOf('0017'))
    expect(ready.status).toBe(200)
    expect([me.status, JSON.parse(me.text).email]).toEqual([200, 'admin@localhost'])
  })

  test('of a later version is refused by the next start, which names both versions', async () => {
    const when = 99_999_999_999_999
    const later = `insert into migrations.__drizzle_migrations (hash, created_at) values ('later', ${when});
      insert into public.deployment_versions (migrated_to, version) values (${when}, '7.8.9')`
    const { ready, me } = await startedWith(await madeOf(STATES.at(-1) ?? '', later))
    expect(ready.status).toBe(503)
    expect(ready.text).toContain(`Keyway 7.8.9, which is newer than this version, ${VERSION}`)
    expect(me.status).toBe(503)
  })
})
