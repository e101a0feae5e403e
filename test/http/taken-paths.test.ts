/** KEYWAY_CONNECTORS_PATH must not hide another path that is served. */
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../runtime/config/config.ts'
import { createHost } from '../../runtime/main.ts'
import { createLog } from '../../runtime/observe/log.ts'
import { withVerdicts } from '../kit/template.ts'
import { workerOfTests } from '../kit/worker.ts'

test('the path of the connectors cannot be a path that is in use', async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'keyway-paths-'))
  withVerdicts(dataDir)
  const config = readConfig({ KEYWAY_DATA_DIR: dataDir, KEYWAY_DROP_IN: 'off' })
  const parts = { database: 'none', worker: workerOfTests() } as const
  const host = await createHost(config, createLog('silent'), {}, parts)
  const segments = host.app.routes.map(({ path: at }) => at.split('/')[1] ?? '')
  await host.stop()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10 })
  const others = [...new Set(segments)].filter((one) => !['', '*', 'connectors'].includes(one))
  expect(others).toEqual(expect.arrayContaining(['users', 'tasks', 'settings', 'schemas']))
  for (const one of others)
    expect(() => readConfig({ KEYWAY_CONNECTORS_PATH: `/${one}` }), one).toThrow(ConfigError)
})
