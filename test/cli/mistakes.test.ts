/** Messages for unusable files and for a host that does not run: they say what to do next. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createProgram, verbsOf } from '../../runtime/cli/program.ts'
import { ConfigError } from '../../runtime/config/config.ts'

const home = mkdtempSync(path.join(tmpdir(), 'keyway-mistakes-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
writeFileSync(path.join(home, 'text'), 'hello\n')

beforeAll(() => {
  // Nothing listens on port 1.
  vi.stubEnv('PORT', '1')
  vi.stubEnv('KEYWAY_DATA_DIR', path.join(home, 'data'))
})
afterAll(() => vi.unstubAllEnvs())

/** The error message of a command line; each `@` stands for the folder of files. */
async function typed(line: string): Promise<string> {
  const args = line.split(' ').map((word) => word.replace(/^@/, `${home}/`))
  const thrown = await createProgram()
    .parseAsync(args, { from: 'user' })
    .then(
      () => 'nothing',
      (error: unknown) => error,
    )
  expect(thrown).toBeInstanceOf(ConfigError)
  return (thrown as Error).message.replaceAll(`${home}/`, '@')
}

const NO_HOST = /No Keyway answers at .*start it with `keyway start`, or say by HOST and PORT/

test.each([
  [
    'trust @no.pub --name x',
    /^there is no file @no\.pub; name the \.pub file written by keyway keygen$/,
  ],
  ['trust @text --name x', /@text is not a public key: name the \.pub/],
  ['trust @ --name x', /^@ cannot be used: it is a folder; name the \.pub/],
  ['install @no.tgz', /^there is no file @no\.tgz; name a package made by keyway pack/],
  ['install @', /first make a package of it with keyway pack/],
  ['sync-settings x --set @no.json', /^there is no file @no\.json; --set takes a file with JSON$/],
  ['sync-settings x --set @text', /--set: @text is not JSON/],
  [
    'webhooks add n --type PROVISION --to https://x.example --headers no.json',
    /no file no\.json; --h/,
  ],
  ['users import @no.csv', /^there is no file @no\.csv; name a CSV file with a header$/],
  [
    'sign no.tgz --key no.key',
    /^there is no file no\.tgz; name a package made by keyway pack, and with --key/,
  ],
  ['restore @no.gz', /^there is no file @no\.gz; name another file/],
  ['restore @text', /is not a backup of Keyway.*Name a file that `keyway backup` has written/],
  ['backup @b.gz', /is KEYWAY_DATA_DIR the one that the host uses\?/],
  ['audit verify', /is KEYWAY_DATA_DIR the one that the host uses\?/],
  ['dev @no', /no such folder/],
  ...[
    ...['list', 'show x', 'history', 'diff 1', 'nodes', 'publishers', 'jobs', 'logs', 'syncs'],
    ...[
      'rollback 1',
      'remove x',
      'disable x',
      'enable x',
      'release x',
      'grant x all',
      'webhooks list',
    ],
  ].map((args) => [args, NO_HOST] as const),
] as const)('keyway %s says what to do next', async (line, words) => {
  const message = await typed(line)
  expect(message).toMatch(words)
  expect(message).not.toMatch(/E(NOENT|ISDIR|ACCES)/)
})

test('wrong usage names the help of the verb', async () => {
  const shown: string[] = []
  const program = createProgram()
  for (const { command } of verbsOf(program))
    command.configureOutput({ writeErr: (text) => void shown.push(text) })
  const line = ['webhooks', 'show']
  await expect(program.parseAsync(line, { from: 'user' })).rejects.toThrow(/missing required/)
  expect(shown.join('')).toContain('(see keyway webhooks show --help)')
})
