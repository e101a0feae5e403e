import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { readConfig } from '../../../runtime/config/config.ts'
import { createHost } from '../../../runtime/main.ts'
import { createLog } from '../../../runtime/observe/log.ts'
import { withVerdicts } from '../../kit/template.ts'
import { workerOfTests } from '../../kit/worker.ts'

test('a host stops even if its database was never reachable', async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'keyway-stop-'))
  withVerdicts(dataDir)
  const config = readConfig({
    KEYWAY_DATA_DIR: dataDir,
    KEYWAY_DROP_IN: 'off',
    KEYWAY_SECRET: 's'.repeat(40),
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
  })
  const host = await createHost(config, createLog('silent'), {}, { worker: workerOfTests() })
  await host.stop()
  expect(host.db()).toBeNull()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10 })
})
