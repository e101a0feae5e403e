import { describe, expect, test } from 'vitest'
import { readFolder } from '../../../runtime/connectors/registry/folder.ts'
import { inspect } from '../../../runtime/connectors/registry/inspect.ts'
import { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { bench } from './fixtures/bench.ts'
import { CODE, filesOf, temporaryFolder, write } from './fixtures/folders.ts'

async function judge(files: Record<string, string>) {
  const directory = temporaryFolder()
  await write(directory, files)
  return inspect(await readFolder(directory), bench.inspector)
}

const handlers = (...names: string[]) =>
  `import { defineConnector } from 'keyway/sdk'\nexport default defineConnector({ ${names
    .map((name) => `async ${name}(): Promise<never> { throw new Error() }`)
    .join(', ')} })`

test('accepts a folder whose code implements its manifest', async () => {
  expect(await judge(filesOf())).toMatchObject({
    ok: true,
    manifest: { id: 'acme' },
    code: expect.stringContaining('unique_tenant_id'),
  })
})

describe('refuses', () => {
  const bad: [string, Record<string, string>, RegExp][] = [
    ['an invalid manifest', filesOf({ version: 'x' }), /^version: found "x"/],
    ['a missing logo', filesOf({ logo: 'logo.svg' }), /^logo: there is no logo\.svg/],
    ['no code', { 'connector.json': filesOf()['connector.json'] as string }, /no connector\.ts/],
    ['code that does not parse', filesOf({}, 'const = 1'), /^connector\.ts:1:7: /],
    [
      'code that throws when it loads',
      filesOf({}, `throw new Error('no luck today')\n${CODE}`),
      /^connector\.ts:1:7: the connector could not be loaded: .*no luck today/,
    ],
    [
      'code that throws a value that is not an Error',
      filesOf({}, `throw { toString() { throw 1 } }\n${CODE}`),
      /^connector\.ts: the connector could not be loaded/,
    ],
    [
      'code that never finishes loading',
      filesOf({}, `for (;;) {}\n${CODE}`),
      /^connector\.ts:1:1: the connector could not be loaded: .*timed out/,
    ],
    [
      'code with a getter that never returns',
      filesOf({}, 'export default { get validate_credentials() { for (;;) {} } }'),
      /^connector\.ts: the connector could not be loaded/,
    ],
    [
      'code that takes all memory when it loads',
      filesOf(
        {},
        `const all: unknown[] = []\nfor (;;) all.push(new Array(1_000_000).fill(0))\n${CODE}`,
      ),
      /memory/,
    ],
    ['code that exports nothing', filesOf({}, 'export {}'), /the connector exports nothing/],
    [
      'code that exports a class',
      filesOf({}, 'export default class {}'),
      /made by defineConnector/,
    ],
    ['code that exports a number', filesOf({}, 'export default 5'), /made by defineConnector/],
    [
      'a member that is not a function',
      filesOf({}, 'export default { validate_credentials: 5 }'),
      /validate_credentials of the default export is not a function/,
    ],
    [
      'a capability that is declared but not implemented',
      filesOf({ capabilities: { validate_credentials: {}, list_accounts: {} } }),
      /^capabilities\.list_accounts: declared, but connector\.ts does not implement it; it implements validate_credentials$/,
    ],
    [
      'a capability that is implemented but not declared',
      filesOf({}, handlers('validate_credentials', 'list_accounts')),
      /^connector\.ts implements list_accounts, but connector\.json does not declare it; it declares validate_credentials$/,
    ],
    [
      'a function that is not a capability',
      filesOf({}, handlers('validate_credentials', 'helper')),
      /^connector\.ts implements helper,/,
    ],
    [
      'an export without functions',
      filesOf({}, 'export default {}'),
      /does not implement it; it implements nothing$/,
    ],
  ]
  test.each(bad)('%s', async (_name, files, words) => {
    const verdict = await judge(files)
    expect(verdict.ok).toBe(false)
    expect((verdict as { findings: string[] }).findings.join('\n')).toMatch(words)
  })

  test('code that calls fetch while it loads', async () => {
    const verdict = await judge(
      filesOf({}, `const reply = fetch('https://api.acme.example')\n${CODE}`),
    )
    expect(verdict).toMatchObject({ ok: false, findings: [expect.stringContaining('fetch')] })
  })
})

test.each(['stopping', 'worker_died', 'deadline_passed'] as const)(
  'gives no verdict when the sandbox itself failed: %s',
  async (code) => {
    const directory = temporaryFolder()
    await write(directory, filesOf())
    const failing = {
      ...bench.inspector,
      describe: () => Promise.reject(new RuntimeError(code, 'no')),
    }
    await expect(inspect(await readFolder(directory), failing)).rejects.toMatchObject({ code })
  },
)
