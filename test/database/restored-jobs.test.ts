/** Restores a database that was backed up while a job was active. */
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { backup } from '../../runtime/database/backup/backup.ts'
import { restore } from '../../runtime/database/backup/restore.ts'
import { startEmbedded } from '../../runtime/database/embedded.ts'
import { openJobs } from '../../runtime/database/jobs.ts'
import { openDatabase } from '../../runtime/database/open.ts'
import { backupKey, keyId } from '../../runtime/secrets/key-derivation.ts'
import { until } from '../e2e/until.ts'
import { newFolder } from '../kit/folder.ts'
import { forgetDatabase } from './forget.ts'

const home = newFolder('jobs')
const folders = ['source', 'restored'].map((name) => path.join(home, name))
const password = 'p'.repeat(40)
const KEY = { id: keyId('a'.repeat(40)), sealKey: backupKey('a'.repeat(40)) }
const quiet = { signal: new AbortController().signal, onProgress: () => {}, tell: () => {} }

afterAll(async () => {
  for (const folder of folders) await forgetDatabase(folder)
  await rm(home, { recursive: true, force: true })
})

it('a restored database runs the job that was active, as after a host was killed', async () => {
  const [from = '', to = ''] = folders
  const file = path.join(home, 'backup.tar.gz')
  const source = await startEmbedded({ dataDir: from, password, tell() {}, onLine() {} })
  const database = await openDatabase(source.connection, () => {})
  const jobs = openJobs(database)
  await jobs.start()
  await jobs.createQueue('odd', { policy: 'exclusive', heartbeatSeconds: 10, retryLimit: 3 })
  await jobs.send('odd', { key: 'one' }, { singletonKey: 'one' })
  expect(await jobs.fetch('odd')).toHaveLength(1)
  const { connection } = source
  await backup({ connection, file, force: false, keys: [KEY], version: '1.2.3', ...quiet })
  await jobs.stop({ graceful: false })
  await database.close()
  await source.stop()

  await restore({
    dataDir: to,
    file,
    force: false,
    keys: [KEY],
    password: async () => password,
    ...quiet,
  })
  const restored = await startEmbedded({ dataDir: to, password, tell() {}, onLine() {} })
  const again = await openDatabase(restored.connection, () => {})
  const found = openJobs(again)
  const done: unknown[] = []
  try {
    await found.start()
    await found.work('odd', async ([job]) => {
      done.push(job?.data)
    })
    await until('the job is done', async () => done.length > 0)
    expect(done).toEqual([{ key: 'one' }])
  } finally {
    await found.stop({ graceful: false })
    await again.close()
    await restored.stop()
  }
})
