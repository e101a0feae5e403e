import path from 'node:path'
import { expect, test } from 'vitest'
import { readFolder } from '../../../runtime/connectors/registry/folder.ts'
import { createJudge } from '../../../runtime/connectors/registry/judge.ts'
import { openStore } from '../../../runtime/connectors/registry/store.ts'
import { type RuntimeCode, RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { filesOf, temporaryFolder, write } from './fixtures/folders.ts'

/** A judge whose sandbox fails with these codes, one for each try, and then succeeds. */
function judging(...codes: RuntimeCode[]) {
  const tries: string[] = []
  const store = openStore(temporaryFolder(), 'a'.repeat(64))
  const judge = createJudge(
    {
      checkEgress: () => [],
      compile: async () => ({ ok: true, code: '', map: null }),
      async describe({ id }) {
        tries.push(id)
        const code = id === 'acme' ? codes.shift() : undefined
        if (code) throw new RuntimeError(code, 'no answer within 8000 ms')
        return ['validate_credentials']
      },
    },
    store,
  )
  return { judge, store, tries }
}

async function folderOf(id = 'acme') {
  const directory = path.join(temporaryFolder(), id)
  await write(directory, filesOf({ id }))
  return readFolder(directory)
}

test.each(['deadline_passed', 'worker_died'] as const)(
  'a check that ends with %s is retried once',
  async (code) => {
    const { judge, store, tries } = judging(code)
    const folder = await folderOf()
    expect(await judge(folder)).toMatchObject({ ok: true })
    expect(tries).toHaveLength(2)
    expect(await store.find(folder.digest)).toMatchObject({ ok: true })
  },
)

test('a check that fails twice results in a stored verdict', async () => {
  const { judge, store, tries } = judging('deadline_passed', 'worker_died', 'worker_died')
  const folder = await folderOf()
  const verdict = {
    ok: false,
    id: 'acme',
    version: '1.0.0',
    findings: [
      'connector.ts: could not be loaded in 2 tries: no answer within 8000 ms; change a file of the folder to have it checked again',
    ],
  }
  expect(await judge(folder)).toEqual(verdict)
  expect(tries).toHaveLength(2)
  expect(await store.find(folder.digest)).toEqual(verdict)
})

test('the retry runs after the folders that wait', async () => {
  const { judge, tries } = judging('worker_died')
  const folders = [await folderOf('acme'), await folderOf('beta'), await folderOf('gamma')]
  await Promise.all(folders.map(judge))
  expect(tries).toEqual(['acme', 'beta', 'gamma', 'acme'])
})

test('a stop of the runtime is not a failure of the connector', async () => {
  const { judge, store, tries } = judging('stopping', 'stopping')
  const folder = await folderOf()
  await expect(judge(folder)).rejects.toMatchObject({ code: 'stopping' })
  await expect(judge(folder)).rejects.toMatchObject({ code: 'stopping' })
  expect(await store.find(folder.digest)).toBeNull()
  expect(await judge(folder)).toMatchObject({ ok: true })
  expect(tries).toHaveLength(3)
})

test('the same files in two folders are checked once', async () => {
  const { judge, tries } = judging()
  const folder = await folderOf()
  await Promise.all([judge(folder), judge({ ...folder, directory: '/elsewhere' })])
  expect(tries).toHaveLength(1)
})
