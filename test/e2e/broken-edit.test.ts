/**
 * Edits that break a connector: it becomes a ghost with a reason, and the last good version keeps serving.
 */
import { unlink } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { code, type Files, greeter, manifest, withToken } from '../fixtures/folders.ts'
import { type Answer, failure, type Row, startHost, success, type TestHost } from './host.ts'
import { until } from './until.ts'

const list = (host: TestHost, id: string, page = {}): Promise<Answer> =>
  host.call(id, 'list_accounts', { ...withToken(), page })
const wordsOf = ({ body }: Answer): string[] =>
  success<{ integration_specific_id: string }[]>(body).map((one) => one.integration_specific_id)
const word = async (host: TestHost, id: string) => wordsOf(await list(host, id)).join()

describe('a broken edit', () => {
  let host: TestHost
  const good = greeter('target', 'last good')
  const withCode = (text: string): Files => ({
    'connector.json': manifest('target'),
    'connector.ts': text,
  })
  const withManifest = (parts: object): Files => ({ 'connector.json': manifest('target', parts) })

  beforeAll(async () => {
    host = await startHost({
      connectors: { target: good, steady: greeter('steady', 'still here') },
    })
  })
  afterAll(async () => {
    await host?.stop()
  })

  const isEdit = ({ folder, state }: Row) => folder.endsWith('/target') && state === 'ghost'

  const rows: [what: string, files: Files, because: RegExp][] = [
    ['that is not JSON', { 'connector.json': '{ "id": ' }, /connector\.json is not JSON/],
    ['with an unknown field', withManifest({ colour: 'red' }), /colour: there is no such field/],
    ['without an id', withManifest({ id: undefined }), /id: missing/],
    ['with an invalid id', withManifest({ id: 'Target!' }), /id: must look like/],
    ['with a reserved id', withManifest({ id: 'list_connector_app_ids' }), /id: is reserved/],
    [
      'with an invalid version',
      withManifest({ version: 'one' }),
      /version: found "one"; write a semantic version/,
    ],
    ['for another runtime', withManifest({ runtime: '^2.0.0' }), /runtime: asks for \^2\.0\.0/],
    [
      'with a misspelled capability',
      withManifest({ capabilities: { list_account: {} } }),
      /did you mean list_accounts/,
    ],
    [
      'without authentication',
      withManifest({ authentication_schema: undefined }),
      /authentication_schema: missing/,
    ],
    [
      'with two kinds of authentication',
      withManifest({ credentials: [{ id: 'a', kind: 'token' }] }),
      /found both/,
    ],
    [
      'with an undeclared setting in its egress',
      withManifest({ egress: [{ url: 'https://{settings.sub}.example' }] }),
      /settings\.sub, which is not declared/,
    ],
    ['with egress to everywhere', withManifest({ egress: [{ url: 'https://*' }] }), /egress/],
    ['with invalid limits', withManifest({ limits: { deadline_ms: 1 } }), /limits\.deadline_ms/],
    [
      'that declares what it does not implement',
      withManifest({ capabilities: { list_accounts: {}, get_account: {} } }),
      /get_account: declared, but .* does not implement/,
    ],
    [
      'that implements what it does not declare',
      withCode(code('list_accounts: () => [], get_account: () => 1')),
      /implements get_account, but .* does not declare/,
    ],
    ['with a syntax error', withCode('export default {{{'), /connector\.ts:1:\d+: /],
    [
      'that throws while it loads',
      withCode(`throw new Error('boom at load')\n${code('list_accounts: () => []')}`),
      /boom at load/,
    ],
    [
      'that loops while it loads',
      withCode(`for (;;);\n${code('list_accounts: () => []')}`),
      /time|in time|timed out/i,
    ],
    [
      'that fills memory while it loads',
      withCode(
        `const all: unknown[] = []; for (;;) all.push(new Array(1e6).fill(1))\n${code('list_accounts: () => []')}`,
      ),
      /memory/,
    ],
    ['that exports nothing', withCode('export const unused = 1'), /default/],
    ['that exports a number', withCode('export default 5'), /default|export/],
    ['whose capability is not a function', withCode(code('list_accounts: 5')), /list_accounts/],
    [
      'that imports from Node',
      withCode(`import 'node:fs'\n${code('list_accounts: () => []')}`),
      /node:fs is not there in the sandbox/,
    ],
    [
      'that requires from Node',
      withCode(
        `declare const require: (name: string) => unknown\nrequire('child_process')\n${code('list_accounts: () => []')}`,
      ),
      /child_process is not there in the sandbox/,
    ],
    [
      'that imports a missing file',
      withCode(`import 'left-pad'\n${code('list_accounts: () => []')}`),
      /cannot find left-pad/,
    ],
    [
      'that imports by absolute path',
      withCode(`import '/etc/passwd'\n${code('list_accounts: () => []')}`),
      /outside the connector's folder/,
    ],
    [
      'that takes the host’s bridge',
      withCode(`globalThis.__hostPost('fetch', 1, '{}', '')\n${code('list_accounts: () => []')}`),
      /__hostPost/,
    ],
  ]

  test.each(rows)(
    '%s is a ghost with its reason, and the last good version serves',
    async (_what, files, because) => {
      const before = (await host.operator()).find(isEdit)?.digest
      await host.drop('target', { ...good, ...files })
      const { reason, serving } = await until('the edit is a ghost', async () =>
        (await host.operator()).find((row) => isEdit(row) && row.digest !== before),
      )
      expect(serving).toBe(false)
      expect(reason).toMatch(because)
      expect(reason).not.toContain('node_modules')
      expect(await word(host, 'target')).toBe('last good')
      expect(await word(host, 'steady')).toBe('still here')
      expect(host.lines.some((line) => JSON.parse(line).msg === reason)).toBe(true)
    },
  )

  test('that removes connector.ts is a ghost as well', async () => {
    await unlink(path.join(host.home, 'plugins/target/connector.ts'))
    await host.ghost('target', /no connector\.ts/)
    expect(await word(host, 'target')).toBe('last good')
    await host.drop('target', good)
  })

  test('in a folder without a good version is not served at all', async () => {
    await host.drop('never', {
      'connector.json': manifest('never'),
      'connector.ts': 'export default {{{',
    })
    const row = await host.ghost('never')
    expect(row).toMatchObject({ id: 'never', version: '1.0.0', serving: false })
    expect(failure(await list(host, 'never')).error_code).toBe('not_found')
    await host.remove('never')
  })

  test('that exists at a restart is listed, and the last good version serves', async () => {
    await host.stop({ keep: true })
    const { home } = host
    host = await startHost({ home, connectors: { target: withCode('export default {{{') } })
    expect(await word(host, 'target')).toBe('last good')
    expect((await host.ghost('target')).reason).toMatch(/connector\.ts:1/)
    expect(await word(host, 'steady')).toBe('still here')
  })

  test('that was fixed while no host ran is served at the next start', async () => {
    await host.stop({ keep: true })
    const { home } = host
    host = await startHost({ home, connectors: { target: greeter('target', 'mended') } })
    expect(await word(host, 'target')).toBe('mended')
    expect((await host.operator()).every(({ state }) => state === 'ready')).toBe(true)
  })
})
