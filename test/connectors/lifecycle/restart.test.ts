import { readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CoreHost, startCore } from '../../core/host.ts'
import { operator } from './operator.ts'
import { type Made, packaged } from './packaging.ts'

let core: CoreHost
let made: Made

beforeAll(async () => {
  core = await startCore()
  made = await packaged()
  await operator(core).install(made)
})
afterAll(() => core.stop())

/** Stops the host, changes its disk, starts it again, and waits until it follows the database. */
async function restart(meanwhile: (installed: string) => Promise<unknown>): Promise<string> {
  const { dataDir } = core
  await core.stop({ keep: true })
  await meanwhile(path.join(dataDir, 'installed'))
  core = await startCore({}, { from: dataDir })
  await core.host.lifecycle.ready
  const { body } = await operator(core).ask('acme', 'validate_credentials')
  return body.is_error ? body.error.message : 'serves'
}

test.each<[string, (installed: string) => Promise<unknown>]>([
  ['lost packages', (home) => rm(path.join(home, 'connectors'), { recursive: true })],
  ['a truncated generation.json', (home) => writeFile(path.join(home, 'generation.json'), '{"nu')],
  [
    'a generation.json of the same number and other content, as after a restore',
    async (home) => {
      const file = path.join(home, 'generation.json')
      const known = JSON.parse(await readFile(file, 'utf8'))
      await writeFile(
        file,
        JSON.stringify({ ...known, statement: { connectors: {}, publishers: [] } }),
      )
    },
  ],
])('a host with %s serves the state of the database', async (_name, meanwhile) => {
  expect(await restart(meanwhile)).toBe('serves')
})
