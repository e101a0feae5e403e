/** The host that an author’s commands open. */
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { openFolderHost } from '../../runtime/cli/folder-host.ts'
import { readConfig } from '../../runtime/config/config.ts'
import { createLog } from '../../runtime/observe/log.ts'
import { temporaryFolder } from '../connectors/registry/fixtures/folders.ts'

test('the host of a folder serves only that folder, and leaves no files in the data directory of a server', async () => {
  const dataDir = temporaryFolder()
  const config = readConfig({ KEYWAY_DATA_DIR: dataDir })
  const folder = path.resolve('plugin-template')
  const { host, leave } = await openFolderHost(folder, config, createLog('silent'), {})
  await host.settled
  expect(host.registry.ids()).toEqual(['acme'])
  await host.stop()
  await leave()
  expect(await readdir(dataDir)).toEqual([])
})
