import { mkdirSync, rmSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { follow } from '../../../runtime/connectors/lifecycle/follow.ts'
import { type CoreHost, domainOf, startCore } from '../../core/host.ts'
import { operator } from './operator.ts'
import { packaged } from './packaging.ts'

let core: CoreHost
let op: ReturnType<typeof operator>

beforeAll(async () => {
  core = await startCore()
  op = operator(core)
})
afterAll(() => core.stop())

test('a generation that cannot be applied is tried once, not at every poll', async () => {
  await op.upload(await packaged())
  const domainId = await domainOf(core.db)
  let tries = 0
  const follower = follow(
    {
      db: () => core.db,
      domainId: () => domainId,
      keyIds: [],
      listen: () => async () => {},
      apply: async () => {
        tries += 1
        return ['a package that is broken']
      },
      onError: (error) => {
        throw error
      },
    },
    { number: 0, statement: { connectors: {}, publishers: [] } },
  )
  for (let at = 0; at < 5; at += 1) await follower.catchUp()
  expect(tries).toBe(1)
  await follower.stop()
})

test('a host follows even if it cannot write its file, and leaves no temporary files', async () => {
  const home = path.join(core.dataDir, 'installed')
  // A directory in place of the file: the file cannot be written.
  rmSync(path.join(home, 'generation.json'), { force: true })
  mkdirSync(path.join(home, 'generation.json', 'taken'), { recursive: true })
  const { body } = await op.install(await packaged({ id: 'other' }), { wait_ms: 1000 })
  expect(body).toMatchObject({ changed: true, converged: true })
  expect(core.host.lifecycle.generation()).toBe(body.generation)
  expect((await readdir(home)).filter((name) => name.startsWith('generation.json.'))).toEqual([])
})
