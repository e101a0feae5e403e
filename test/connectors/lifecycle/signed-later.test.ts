import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CoreHost, startCore } from '../../core/host.ts'
import { operator } from './operator.ts'
import { packaged } from './packaging.ts'

let core: CoreHost
let op: ReturnType<typeof operator>

beforeAll(async () => {
  core = await startCore()
  op = operator(core)
})
afterAll(() => core.stop())

test('a package that is uploaded again with a signature stays trusted, also after an upload without it', async () => {
  const made = await packaged()
  await op.trustPublisher()
  await op.upload({ ...made, signature: null })
  const { body } = await op.upload(made)
  expect(body.difference).toEqual([expect.stringMatching(/^acme: 1\.0\.0 is trusted now/)])
  const shown = async () => (await op.call('GET', '/connectors/acme')).body.versions
  expect(await shown()).toEqual([expect.objectContaining({ trust: 'trusted' })])
  expect((await op.upload({ ...made, signature: null })).body.changed).toBe(false)
  expect(await shown()).toEqual([expect.objectContaining({ trust: 'trusted' })])
})
