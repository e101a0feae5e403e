/** `keyway call` and `keyway logs`, with credentials from a file and from a terminal. */
import { spawn, spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { casesFor, LISTING, packaged } from '../connectors/lifecycle/packaging.ts'
import { until } from '../e2e/until.ts'
import { MAIN } from '../kit/commands.ts'
import { begin, type Running, startRunning } from './keyway.ts'

const FIELDS = { token: { title: 'API token', help: 'Acme > Settings' } }
const SETTINGS = { region: { type: 'string', required: true }, limit: { type: 'integer' } }
/** Echoes its request and its settings; the third page fails if the region is `broken`. */
const CODE = LISTING('1.0.0')
  .replace(
    'const start =',
    `if (context.settings.region === 'broken' && context.page.cursor === '10') throw new Error('page three')
    const start =`,
  )
  .replace(
    'async list_accounts',
    `async get_account(input, context) {
    context.log.info('looked up')
    return { integration_specific_id: input.account_id, given_name: context.settings.region, family_name: String(context.settings.limit), user_status: 'ACTIVE' }
  },
  async list_accounts`,
  )

let host: Running
let as: string

beforeAll(async () => {
  host = await startRunning()
  const capabilities = { validate_credentials: {}, list_accounts: {}, get_account: {} }
  const here = { settings: { region: 'here' } }
  const cases = casesFor(capabilities, {
    validate_credentials: here,
    list_accounts: here,
    get_account: { ...here, request: { account_id: 'u1' } },
  })
  await host.install(
    await packaged(
      {
        authentication_schema: { kind: 'token', fields: FIELDS },
        settings: SETTINGS,
        capabilities,
      },
      CODE,
      cases,
    ),
  )
  as = await host.file('acme.json', of('here'))
})
afterAll(() => host.stop())

const of = (region: string) => ({ auth: { token: { token: 's3cret' } }, settings: { region } })

describe('keyway call', () => {
  test('prints the whole list, across all pages', async () => {
    const { code, out, err } = await host.keyway('call', 'acme', 'list_accounts', '--as', as)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(out)).toHaveLength(23)
    const { answer } = await host.json('call', 'acme', 'list_accounts', '--as', as, '--size', '4')
    expect(answer.response).toHaveLength(23)
  })

  test('prints one page with --one-page, and says that there are more', async () => {
    const one = await host.keyway('call', 'acme', 'list_accounts', '--as', as, '--one-page')
    expect(JSON.parse(one.out)).toHaveLength(5)
    expect(one.err).toContain('There are more pages')
    const { answer } = await host.json('call', 'acme', 'list_accounts', '--as', as, '--one-page')
    expect(answer.page.token).toEqual(expect.any(String))
  })

  test.each([
    ['in the command line', '{"account_id":"u1"}'],
    ['in a file', 'request.json'],
  ])('takes a request %s', async (_where, request) => {
    await host.file('request.json', { account_id: 'u1' })
    const { out } = await host.keyway(
      ...['call', 'acme', 'get_account', '--as', as, '--request', request],
    )
    expect(JSON.parse(out)).toMatchObject({ integration_specific_id: 'u1', given_name: 'here' })
  })

  test('exits with 1 on an error, and prints its code, its message and the number of items so far', async () => {
    const broken = await host.file('broken.json', of('broken'))
    const failed = await host.keyway('call', 'acme', 'list_accounts', '--as', broken)
    expect(failed).toMatchObject({ code: 1, out: '' })
    expect(failed.err).toMatch(/^unexpected_error: .*page three.* \(after 10 items\)\n/)
    const { code, answer } = await host.json('call', 'acme', 'list_accounts', '--as', broken)
    expect([code, answer.error.error_code]).toEqual([1, 'unexpected_error'])
    const { raised_by, raised_in } = answer.error
    expect(failed.err).toContain(`\n  raised by ${raised_by} in ${raised_in}\n`)
  })

  test.each([
    [['call', 'nobody', 'list_accounts', '--as', 'acme.json'], 'not_found'],
    [['call', 'acme', 'create_account', '--as', 'acme.json'], 'not_implemented'],
    [['call', 'acme', 'list_accounts'], 'there is no terminal to ask on'],
    [
      ['call', 'acme', 'list_accounts', '--as', 'nowhere.json'],
      'there is no file nowhere.json; --as takes a file with JSON',
    ],
    [['call', 'acme', 'get_account', '--as', 'acme.json', '--request', '{'], 'is not JSON'],
  ])('%j says what is wrong', async (args, words) => {
    expect(await host.keyway(...args)).toMatchObject({
      code: 1,
      err: expect.stringContaining(words),
    })
  })

  test('shows in a dry run what would be sent, without the secrets', async () => {
    const { answer } = await host.json('call', 'acme', 'list_accounts', '--as', as, '--dry-run')
    expect(answer).toMatchObject({
      url: `${host.url}/connectors/acme/list_accounts`,
      body: { auth: { token: { token: '***' } }, settings: { region: 'here' } },
    })
  })
})

// `script` runs a command on a terminal.
const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0
const COMMAND = `"${process.execPath}" --no-warnings "${MAIN}"`

/** Types each answer once its question is shown; returns the output and the exit code. */
async function typed(command: string, answers: [RegExp, string][]) {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn('script', ['-qec', `${COMMAND} ${command}`, '/dev/null'], {
    cwd: host.home,
    env: { PATH, HOME, TERM: 'dumb', ...host.env },
  })
  let shown = ''
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  for (const [question, answer] of answers) {
    await until(`the prompt ${question} is shown`, () => question.test(shown)).catch(
      (error: Error) => {
        child.kill()
        throw new Error(`${error.message}; it showed ${JSON.stringify(shown)}`)
      },
    )
    child.stdin.write(`${answer}\n`)
  }
  const code = await ended
  return { code, shown }
}

describe.skipIf(!hasScript)(`on a terminal${hasScript ? '' : ' (needs script)'}`, () => {
  test('keyway call asks for credentials and settings, and does not echo secrets', async () => {
    const { code, shown } = await typed(`call acme get_account --request '{"account_id":"u7"}'`, [
      [/API token: $/, 's3cret-of-mine'],
      [/region: $/, ''],
      [/region: \s+region: $/, 'there'],
      [/limit \(optional\): $/, 'twelve'],
      [/twelve\s+limit \(optional\): $/, '12'],
    ])
    expect(code).toBe(0)
    expect(shown).toContain('Acme > Settings')
    expect(shown).toMatch(/"given_name": "there"/)
    expect(shown).toMatch(/"family_name": "12"/)
    expect(shown).not.toContain('s3cret-of-mine')
  })

  test('keyway call shows the number of pages and items while it reads them', async () => {
    const { shown } = await typed(`call acme list_accounts --as acme.json`, [])
    expect(shown).toMatch(/\d+ pages?, \d+ items …/)
    expect(shown).toContain('account-22')
  })

  test('keyway install asks before it grants', async () => {
    const file = await host.saved(
      await packaged({ id: 'other', version: '1.0.0' }, LISTING('1.0.0')),
    )
    const no = await typed(`install ${file}`, [[/Grant all of it\? \[y\/N\] $/, 'n']])
    expect(no).toMatchObject({
      code: 3,
      shown: expect.stringContaining('is stored but not active'),
    })
    const yes = await typed(`upgrade other --to 1.0.0`, [[/Grant all of it\? \[y\/N\] $/, 'y']])
    expect(yes).toMatchObject({ code: 0, shown: expect.stringContaining('serves 1.0.0') })
  })
})

describe('keyway logs', () => {
  test('lists calls with their log lines, oldest first, and filters them by connector and cause', async () => {
    await host.keyway(
      ...['call', 'acme', 'get_account', '--as', as, '--request', '{"account_id":"u1"}'],
    )
    await host.keyway('call', 'acme', 'list_accounts', '--as', as, '--one-page')
    const { out } = await host.keyway('logs', 'acme', '--limit', '2')
    expect(out).toMatch(
      /acme get_account → ok in .*\n {4}info: looked up\n.*acme list_accounts → ok/,
    )
    const { answer } = await host.json('logs', '--limit', '1')
    expect(answer.items).toEqual([expect.objectContaining({ capability: 'list_accounts' })])
    expect((await host.keyway('logs', 'scim')).out).toContain(
      'No matching calls among the latest on this host',
    )
    const asked = await host.keyway('logs', 'acme', '--cause', 'interface', '--limit', '1')
    expect(asked.out).toContain('acme list_accounts → ok')
    expect((await host.keyway('logs', '--cause', 'trial')).out).toContain('keyway nodes')
    const wrong = await host.keyway('logs', '--cause', 'sinc')
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('access_request')])
  })

  test('shows the error message that the caller of a failed call received', async () => {
    await host.keyway('call', 'acme', 'get_account', '--as', as, '--request', '{}')
    const { out } = await host.keyway('logs', 'acme', '--limit', '1')
    expect(out).toMatch(/acme get_account → \w+ in .*\n {4}\S.*account_id/)
    expect(out).not.toContain('→ ok')
  })

  test('shows the version of each call, including a failed one', async () => {
    const call = (more: object = {}) =>
      host.core.call('POST', '/connectors/twice/list_accounts', {
        body: { request: {}, auth: { token: { token: 'x' } }, settings: {}, ...more },
      })
    for (const version of ['1.0.0', '1.1.0']) {
      await host.install(await packaged({ id: 'twice', version }))
      expect((await call()).status).toBe(200)
    }
    const { out } = await host.keyway('logs', 'twice')
    expect(out).toMatch(/→ ok in \S+ ms by 1\.0\.0 [\s\S]*→ ok in \S+ ms by 1\.1\.0 /)
    await call({ auth: {} })
    const { answer } = await host.json('logs', 'twice', '--limit', '3')
    const calls = answer.items.map(({ version, outcome }: Record<string, string>) => [
      version,
      outcome === 'ok',
    ])
    expect(calls).toEqual([
      ['1.1.0', false],
      ['1.1.0', true],
      ['1.0.0', true],
    ])
  })

  test('prints new calls with --follow, as JSON lines with --json', async () => {
    const env = { ...host.env }
    const child = begin(['logs', 'acme', '--follow', '--json', '--limit', '1'], { env })
    let out = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk
    })
    const lines = () => out.split('\n').filter((line) => line !== '')
    await until('the latest call is printed', () => lines().length === 1)
    await host.keyway(
      ...['call', 'acme', 'get_account', '--as', as, '--request', '{"account_id":"u9"}'],
    )
    await until('the new call is printed', () => /"get_account"/.test(lines().at(-1) ?? ''))
    expect(new Set(lines()).size).toBe(lines().length)
    child.kill()
  })
})
