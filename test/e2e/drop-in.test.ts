/** Tests connectors that are added, changed, broken and removed while the host runs. */
import { rename, rm, symlink, unlink } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { code, type Files, greeter, manifest, withToken } from '../fixtures/folders.ts'
import { bestMs } from '../kit/best-ms.ts'
import { shows } from '../symptoms.ts'
import { type Answer, failure, startHost, success, type TestHost } from './host.ts'
import { until } from './until.ts'

const list = (host: TestHost, id: string, page = {}): Promise<Answer> =>
  host.call(id, 'list_accounts', { ...withToken(), page })
const wordsOf = ({ body }: Answer): string[] =>
  success<{ integration_specific_id: string }[]>(body).map((one) => one.integration_specific_id)
const word = async (host: TestHost, id: string) => wordsOf(await list(host, id)).join()

describe('a folder in the plugin directory', () => {
  let host: TestHost
  const folder = (name: string) => path.join(host.home, 'plugins', name)

  beforeAll(async () => {
    host = await startHost({ connectors: { steady: greeter('steady', 'still here') } })
  })
  afterAll(async () => {
    await host?.stop()
  })

  test('is served within two seconds of being copied in', async () => {
    // The documented bound is two seconds; the third is slack for a busy machine. A retry uses another
    // connector: the verdict on this one is already cached.
    const ids: string[] = []
    const tookMs = await bestMs(3000, async () => {
      const id = ids.length === 0 ? 'late' : `late-${ids.length}`
      ids.push(id)
      await host.drop(id, greeter(id, 'one'))
      await until('the connector answers', async () => !(await list(host, id)).body.is_error)
    })
    for (const id of ids.slice(1)) await host.remove(id)
    expect(tookMs).toBeLessThan(3000)
    expect(await word(host, 'late')).toBe('one')
    expect(await host.served('late', '1.0.0')).toMatchObject({
      source: 'drop-in',
      state: 'ready',
      reason: null,
    })
    const info = await host.send('/connectors/late/info')
    expect(JSON.parse(info.text).response.version).toBe('1.0.0')
  })

  test('is served in its new version after a change, documents included', async () => {
    await host.drop('late', greeter('late', 'two', { version: '1.1.0', description: 'Newer' }))
    await host.served('late', '1.1.0')
    const answer = await list(host, 'late')
    expect(wordsOf(answer)).toEqual(['two'])
    expect(answer.headers['x-keyway-connector']).toBe('late@1.1.0')
    const info = await host.send('/connectors/late/info')
    expect(JSON.parse(info.text).response).toMatchObject({ version: '1.1.0', description: 'Newer' })
  })

  test('may be changed back', async () => {
    await host.drop('late', greeter('late', 'one'))
    await host.served('late', '1.0.0')
    expect(await word(host, 'late')).toBe('one')
  })

  test('is unknown once it is removed', async () => {
    await host.remove('late')
    await until('the connector is gone', async () => (await list(host, 'late')).body.is_error)
    expect(failure(await list(host, 'late')).error_code).toBe('not_found')
    expect((await host.operator()).map(({ id }) => id)).not.toContain('late')
  })

  test('is served again when it is added again', async () => {
    await host.drop('late', greeter('late', 'back', { version: '2.0.0' }))
    await host.served('late', '2.0.0')
    expect(await word(host, 'late')).toBe('back')
  })

  test('is replaced as a whole by renaming another into its place', async () => {
    await host.drop('.coming', greeter('late', 'renamed', { version: '3.0.0' }))
    await rm(folder('late'), { recursive: true })
    await rename(folder('.coming'), folder('late'))
    await host.served('late', '3.0.0')
    expect(await word(host, 'late')).toBe('renamed')
  })

  test('may contain more files, JSON and its own packages', async () => {
    await host.drop('parts', {
      'connector.json': manifest('parts'),
      'connector.ts': code(
        'list_accounts: async () => [{ integration_specific_id: start + data.middle + end }],',
        "import data from './data/words.json'\nimport { start } from './lib/start.ts'\nimport end from 'ending'",
      ),
      'lib/start.ts': "export const start: string = 'a'",
      'data/words.json': { middle: 'b' },
      'node_modules/ending/package.json': { name: 'ending', type: 'module', main: 'main.js' },
      'node_modules/ending/main.js': "export default 'c'",
      'tsconfig.json': '{ this is not even JSON',
    })
    await host.served('parts', '1.0.0')
    expect(await word(host, 'parts')).toBe('abc')
    await host.drop('parts', { 'lib/start.ts': "export const start: string = 'z'" })
    await until(
      'the changed inner file is served',
      async () => (await word(host, 'parts')) === 'zbc',
    )
  })

  test('is a ghost without a connector.json, and does not affect others', async () => {
    await host.drop('empty', { 'README.md': 'nothing here' })
    expect((await host.ghost('empty')).reason).toContain('no connector.json')
    shows('a connector is a “ghost”', await host.ghost('empty'))
    await host.remove('empty')
  })

  test('completes running calls with its old code', async () => {
    const slow = (word_: string, version: string): Files => ({
      'connector.json': manifest('slow', { version }),
      'connector.ts': code(`async list_accounts() {
        await new Promise((resolve) => setTimeout(resolve, 2500))
        return [{ integration_specific_id: '${word_}' }]
      },`),
    })
    await host.drop('slow', slow('old', '1.0.0'))
    await host.served('slow', '1.0.0')
    const begun = list(host, 'slow')
    await host.drop('slow', slow('new', '1.1.0'))
    await host.served('slow', '1.1.0')
    const [before, after] = await Promise.all([begun, list(host, 'slow')])
    expect([wordsOf(before), before.headers['x-keyway-connector']]).toEqual([['old'], 'slow@1.0.0'])
    expect([wordsOf(after), after.headers['x-keyway-connector']]).toEqual([['new'], 'slow@1.1.0'])
  })

  test('continues listings that started before an edit with the old version', async () => {
    const paging = (word_: string, version: string): Files => ({
      'connector.json': manifest('paging', { version }),
      'connector.ts': code(`async list_accounts(_request, ctx) {
        const at = ctx.page.cursor ?? 0
        return paged([{ integration_specific_id: '${word_}' + at }], at < 2 ? at + 1 : null)
      },`),
    })
    await host.drop('paging', paging('old', '1.0.0'))
    await host.served('paging', '1.0.0')
    const first = await list(host, 'paging')
    await host.drop('paging', paging('new', '2.0.0'))
    await host.served('paging', '2.0.0')
    const second = await list(host, 'paging', { token: first.body.page?.token })
    expect(second.headers['x-keyway-connector']).toBe('paging@1.0.0')
    const third = await list(host, 'paging', { token: second.body.page?.token })
    expect([first, second, third].flatMap(wordsOf)).toEqual(['old0', 'old1', 'old2'])
    expect(third.body.page).toBeNull()
    const pages = await host.pages('paging', 'list_accounts', withToken())
    expect(pages.flat()).toMatchObject(
      [0, 1, 2].map((at) => ({ integration_specific_id: `new${at}` })),
    )
  })

  test('continues its listings after a restart of the host', async () => {
    const first = await list(host, 'paging')
    await host.stop({ keep: true })
    host = await startHost({ home: host.home })
    const second = await list(host, 'paging', { token: first.body.page?.token })
    expect(wordsOf(second)).toEqual(['new1'])
  })

  test('is refused an id that another has in another spelling', async () => {
    await host.drop('twin-a', greeter('my-twin', 'first'))
    await host.served('my-twin', '1.0.0')
    await host.drop('twin-b', greeter('my_twin', 'second', { version: '1.0.1' }))
    const { reason } = await host.ghost('twin-b')
    expect(reason).toMatch(/my_twin.*my-twin.*one spelling/)
    expect(await word(host, 'my_twin')).toBe('first')
    await host.remove('twin-a')
    await host.served('my_twin', '1.0.1')
    expect(await word(host, 'my-twin')).toBe('second')
  })

  test('is refused the id of a built-in connector', async () => {
    await host.drop('impostor', greeter('scim', 'not scim'))
    expect((await host.ghost('impostor')).reason).toContain('scim')
    expect(
      (await host.operator()).find(({ id, serving }) => id === 'scim' && serving),
    ).toMatchObject({
      source: 'built-in',
    })
    await host.remove('impostor')
  })

  test('cannot read files outside it, by path or by link', async () => {
    await host.drop('secret', { 'secret.ts': "export default 'stolen'" })
    await host.drop('thief', {
      'connector.json': manifest('thief'),
      'connector.ts': code(
        'list_accounts: () => []',
        "import stolen from '../secret/secret.ts'\nvoid stolen",
      ),
    })
    expect((await host.ghost('thief')).reason).toContain(
      'outside the connector’s folder'.replace('’', "'"),
    )
    await symlink(
      path.join(host.home, 'plugins/secret/secret.ts'),
      path.join(folder('thief'), 'link.ts'),
    )
    await host.drop('thief', {
      'connector.ts': code(
        'list_accounts: () => []',
        "import stolen from './link.ts'\nvoid stolen",
      ),
    })
    expect((await host.ghost('thief', /link/)).reason).toContain('link.ts')
    await unlink(path.join(folder('thief'), 'link.ts'))
    await host.remove('thief')
    await host.remove('secret')
  })
})

describe('KEYWAY_DROP_IN', () => {
  const reaching = (version: string, ...urls: string[]) =>
    greeter('reaching', version, { version, egress: urls.map((url) => ({ url })) })

  test('closed: an edit that needs more egress becomes a ghost, which names what it needs', async () => {
    const host = await startHost({
      env: { KEYWAY_DROP_IN: 'closed' },
      connectors: { reaching: reaching('1.0.0', 'https://a.example') },
    })
    await host.drop('reaching', reaching('1.1.0', 'https://a.example', 'https://b.example'))
    expect((await host.ghost('reaching', /wants more/)).reason).toContain('GET https://b.example')
    expect(await word(host, 'reaching')).toBe('1.0.0')
    await host.drop('reaching', reaching('1.2.0', 'https://a.example'))
    await host.served('reaching', '1.2.0')
    expect(await word(host, 'reaching')).toBe('1.2.0')
    await host.stop()
  })

  test('closed: an edit made while no host ran waits for approval as well', async () => {
    const first = await startHost({
      env: { KEYWAY_DROP_IN: 'closed' },
      connectors: { reaching: reaching('1.0.0', 'https://a.example') },
    })
    await first.stop({ keep: true })
    const host = await startHost({
      env: { KEYWAY_DROP_IN: 'closed' },
      home: first.home,
      connectors: { reaching: reaching('1.1.0', 'https://b.example') },
    })
    await host.ghost('reaching', /wants more/)
    expect(await word(host, 'reaching')).toBe('1.0.0')
    await host.stop()
  })

  test('off: the folders are ignored', async () => {
    const host = await startHost({
      env: { KEYWAY_DROP_IN: 'off' },
      connectors: { reaching: reaching('1.0.0', 'https://a.example') },
    })
    expect((await host.operator()).every(({ source }) => source === 'built-in')).toBe(true)
    expect(failure(await list(host, 'reaching')).error_code).toBe('not_found')
    await host.stop()
  })
})
