/** Tests settings that are refused before anything is started. */
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../runtime/config/config.ts'
import { createHost } from '../../runtime/main.ts'
import { createLog } from '../../runtime/observe/log.ts'
import { startTcp, stopAll } from '../egress/fixtures/upstream.ts'
import { newFolder } from '../kit/folder.ts'
import { workerOfTests } from '../kit/worker.ts'

const dataDir = newFolder('judged')
const providers = path.join(dataDir, 'providers.json')
afterAll(async () => {
  await stopAll()
  rmSync(dataDir, { recursive: true, force: true })
})

test.each<[setting: string, value: string, words: RegExp]>([
  ['KEYWAY_PRIVATE_EGRESS', 'acme', /^KEYWAY_PRIVATE_EGRESS: "acme" is not connector_id=host:port/],
  ['KEYWAY_PLAIN_SQL', 'acme=x:0', /^KEYWAY_PLAIN_SQL: "acme=x:0" has no valid port/],
  ['KEYWAY_CLEAR_SECRETS', 'acme', /^KEYWAY_CLEAR_SECRETS/],
  ['KEYWAY_RETENTION', 'nothing=1', /^KEYWAY_RETENTION/],
  ['KEYWAY_SIGN_IN', providers, /^KEYWAY_SIGN_IN: .*providers\.json: /],
  ['HTTPS_PROXY', 'ftp://proxy.example', /^HTTPS_PROXY/],
])('a start with an invalid %s does not connect to the database', async (setting, value, words) => {
  writeFileSync(providers, '[{}]')
  let asked = 0
  const port = await startTcp((socket) => {
    asked += 1
    socket.on('error', () => {})
  })
  const databaseUrl = `postgres://keyway:x@127.0.0.1:${port}/keyway`
  const config = readConfig({
    KEYWAY_DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    [setting]: value,
  })
  const parts = { worker: workerOfTests() }
  const error = await createHost(config, createLog('silent'), {}, parts).catch((thrown) => thrown)
  expect(error).toBeInstanceOf(ConfigError)
  expect(error.message).toMatch(words)
  // A connection that was opened earlier would have arrived by now.
  await (
    await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(200) }).catch(() => null)
  )?.text()
  expect(asked).toBe(1)
})
