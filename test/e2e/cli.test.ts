/**
 * Tests the commands as a person uses them: their output, exit codes, and the files and processes that they
 * leave.
 */
import { readFileSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listen, startUpstream, stopAll } from '../egress/fixtures/upstream.ts'
import { code, fixture, manifest, withToken } from '../fixtures/folders.ts'
import { bestMs } from '../kit/best-ms.ts'
import { withFirstStart } from '../kit/template.ts'
import { send } from './client.ts'
import { begin, newHome, processesWith, ROOT, run, stopCommands } from './command.ts'
import { isAlive, until } from './until.ts'

/** A stack trace or a class name instead of a message. */
const UGLY = /\n {4}at |node:internal|Error:|Node\.js v/
const isLinux = process.platform === 'linux'

let home: string

beforeAll(async () => {
  home = await newHome()
  await withFirstStart(path.join(home, 'data'))
})
afterAll(async () => {
  await stopCommands()
  await stopAll()
})

/** Settings of a server that does not conflict with another one. */
const settings = (more: Record<string, string> = {}) => ({
  PORT: '0',
  KEYWAY_DATA_DIR: path.join(home, 'data'),
  KEYWAY_PLUGINS_DIR: path.join(home, 'plugins'),
  ...more,
})
const post = (url: string, body: object) =>
  send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** The child processes of a process. */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number)

describe('keyway new', () => {
  test.each([
    ['globex-crm', 'Globex Crm'],
    ['globex_crm_', 'Globex Crm'],
    ['x', 'X'],
  ])(
    'creates a connector %s that passes its check, also outside the repository',
    async (id, name) => {
      const made = await run(['new', id, '--dir', home])
      expect(made).toMatchObject({ code: 0 })
      expect(made.output).toContain(`npx keyway check ${path.join(home, id)}\n`)
      const [, guide = ''] = /How to write it: (\S+)/.exec(made.output) ?? []
      expect(await readFile(path.resolve(guide), 'utf8')).toContain('](manifest.md')
      expect(made.output).toMatch(
        /types of keyway\/sdk there:\n\n( {2}npm run build .*\n)? {2}npm install --no-save --prefix /,
      )
      const written = JSON.parse(await readFile(path.join(home, id, 'connector.json'), 'utf8'))
      expect(written).toMatchObject({ id, name })
      const checked = await run(['check', id], { cwd: home })
      expect(checked.output).toMatch(
        new RegExp(`^ok {3}${id} 0\\.1\\.0: \\d+ cases? passed, 0 findings`),
      )
      expect(checked.code).toBe(0)
    },
  )

  test('does not overwrite an existing folder', async () => {
    await mkdir(path.join(home, 'there'), { recursive: true })
    await writeFile(path.join(home, 'there/precious.txt'), 'keep me')
    const { code: exit, output } = await run(['new', 'there', '--dir', home])
    expect(exit).toBe(1)
    expect(output).toMatch(/already exists/)
    expect(await readdir(path.join(home, 'there'))).toEqual(['precious.txt'])
  })

  test('refuses an invalid id with a message that describes valid ones', async () => {
    const { code: exit, output } = await run(['new', 'Globex CRM', '--dir', home])
    expect(exit).toBe(1)
    expect(output).toMatch(/must look like/)
    expect(output).not.toMatch(UGLY)
  })
})

describe('keyway check', () => {
  test('fails for a broken connector, and reports the findings as JSON', async () => {
    const broken = path.join(home, 'broken')
    await cp(fixture('several'), broken, { recursive: true })
    await writeFile(
      path.join(broken, 'connector.cases.json'),
      JSON.stringify([{ name: 'x', capability: 'get_account', response: {} }]),
    )
    const { code: exit, output } = await run(['check', '--json', broken, fixture('nowhere')])
    expect(exit).toBe(1)
    const [first, second] = JSON.parse(output)
    expect(first).toMatchObject({ ok: false, id: 'several-parts', version: '2.3.4' })
    expect(first.findings.map((one: { message: string }) => one.message).join('\n')).toMatch(
      /no case calls list_accounts/,
    )
    expect(second).toMatchObject({ ok: false, id: null })
    expect(second.findings[0].message).toMatch(/no such folder/)
  })

  test('reports the findings as text', async () => {
    const { code: exit, output } = await run(['check', fixture('hazards')])
    expect(exit).toBe(1)
    expect(output).toMatch(/^FAIL hazards 1\.0\.0/)
    expect(output).not.toMatch(UGLY)
  })
})

describe('keyway dev', () => {
  test('serves a folder, logs its calls, applies every edit, and leaves no files behind', async () => {
    const upstream = await startUpstream((_request, response) => response.end('{}'))
    const folder = path.join(home, 'probe')
    const temporary = path.join(home, 'temporary')
    await cp(fixture('probe'), folder, { recursive: true })
    await mkdir(temporary)
    const command = begin(['dev', 'probe'], {
      cwd: home,
      env: settings({
        TMPDIR: temporary,
        KEYWAY_PRIVATE_EGRESS: `probe=127.0.0.1:${new URL(upstream.origin).port}`,
      }),
    })
    const [, url] = await command.prints(/call it at (\S+)\/[a-z-]+\/<capability>/)
    await command.prints(/probe 1\.0\.0 is served/)

    const { text } = await post(`${url}/probe/get_account`, {
      ...withToken({ account_id: JSON.stringify({ url: `${upstream.origin}/things?key=hidden` }) }),
      settings: { base_url: upstream.origin },
    })
    expect(JSON.parse(text).response.extra_data.status).toBe(200)
    await command.prints(/probe get_account → ok in [\d.]+ ms/)
    await command.prints(/GET 127\.0\.0\.1:\d+\/things\?key=… → 200 in/)
    expect(command.output()).not.toContain('hidden')

    await post(`${url}/probe/get_account`, { request: {} })
    await command.prints(/probe get_account → bad_request in [\d.]+ ms/)
    await post(`${url}/probe/fly`, {})
    await command.prints(/probe fly → not_implemented in/)
    await post(`${url}/scim/list_accounts`, {})
    await command.prints(/scim list_accounts → not_found in/)

    const file = path.join(folder, 'connector.json')
    const edit = async (parts: object) =>
      writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), ...parts }))
    await edit({ version: '1.1.0' })
    await command.prints(/probe 1\.1\.0 is served/)
    await edit({ colour: 'red' })
    await command.prints(/probe is ghost: colour: there is no such field/)
    await command.prints(/probe 1\.1\.0, the previous version, is still served/)
    const info = await send(`${url}/probe/info`, {})
    expect(info.headers['x-keyway-connector']).toBe('probe@1.1.0')

    command.killGroup('SIGINT')
    expect(await command.ended).toEqual({ code: 0, signal: null })
    expect(await readdir(temporary)).toEqual([])
    expect(await readdir(folder)).toEqual(
      expect.arrayContaining(['connector.json', 'connector.ts']),
    )
    expect(command.output().match(/probe 1\.0\.0 is served/g)).toHaveLength(1)
    expect(command.output()).not.toMatch(/^\{/m)
    expect(command.output()).not.toContain('scim 1')
    expect(command.output()).not.toMatch(UGLY)
  })

  test('works on a built-in connector', async () => {
    const command = begin(['dev', 'plugins/scim'], { env: settings({ TMPDIR: home }) })
    await command.prints(/scim \d\S* is served/)
    await command.prints(/check: ok/)
    expect(command.output()).not.toContain('ghost')
    command.killGroup('SIGINT')
    expect((await command.ended).code).toBe(0)
  })

  test('checks again after every change, and names the case that failed and its line', async () => {
    await cp(path.join(ROOT, 'plugin-template'), path.join(home, 'again'), { recursive: true })
    const file = path.join(home, 'again', 'connector.cases.json')
    const cases = await readFile(file, 'utf8')
    const command = begin(['dev', 'again', '--record'], { cwd: home, env: settings() })
    await command.prints(/check: ok, 7 cases passed/)
    await writeFile(file, cases.replace('"unique_tenant_id": "ws-1"', '"unique_tenant_id": "ws-2"'))
    await command.prints(
      /error: again\/connector\.cases\.json:8 \(the tenant is the workspace\): response\.unique_tenant_id should be "ws-2", is "ws-1"/,
    )
    const fixed = command.output().length
    await writeFile(file, cases)
    await until('the connector is checked again', () =>
      command.output().slice(fixed).includes('check: ok, 7'),
    )
    command.killGroup('SIGINT')
    expect((await command.ended).code).toBe(0)
  })

  test('reports a folder that does not exist', async () => {
    const { code: exit, output } = await run(['dev', path.join(home, 'nowhere')], {
      env: settings(),
    })
    expect(exit).toBe(1)
    expect(output).toMatch(/no such folder: .*nowhere/)
    expect(output).not.toMatch(UGLY)
  })
})

test('keyway call --record removes its files when it is interrupted', async () => {
  const asked = Promise.withResolvers<void>()
  const upstream = await startUpstream(() => asked.resolve())
  const [folder, temporary] = [path.join(home, 'interrupted'), path.join(home, 'of-interrupted')]
  await cp(fixture('probe'), folder, { recursive: true })
  await mkdir(temporary)
  const url = `${upstream.origin}/things`
  const credentials = path.join(home, 'of-probe.json')
  const held = { auth: { token: { token: 'a-token-for-tests' } } }
  await writeFile(credentials, JSON.stringify({ ...held, settings: { base_url: upstream.origin } }))
  const request = JSON.stringify({ account_id: JSON.stringify({ url }) })
  const asker = ['call', 'probe', 'get_account', '--as', credentials, '--request', request]
  const command = begin([...asker, '--record', folder], {
    env: settings({
      TMPDIR: temporary,
      KEYWAY_PRIVATE_EGRESS: `probe=127.0.0.1:${new URL(upstream.origin).port}`,
    }),
  })
  await asked.promise
  expect(await readdir(temporary)).not.toEqual([])
  command.killGroup('SIGINT')
  expect(await command.ended).toEqual({ code: 130, signal: null })
  expect(await readdir(temporary)).toEqual([])
})

test.each([['check', 'plugins/scim'], ['verify']])(
  'keyway %s removes its files when it is interrupted',
  async (...args) => {
    const temporary = path.join(home, `of-${args[0]}`)
    await mkdir(temporary)
    const command = begin(args, { env: settings({ TMPDIR: temporary }) })
    await until(
      'the command has a temporary folder',
      async () => (await readdir(temporary)).length > 0,
    )
    command.killGroup('SIGINT')
    expect(await command.ended).toEqual({ code: 130, signal: null })
    expect(await readdir(temporary)).toEqual([])
  },
)

// Ctrl-C also reaches child processes of a command: the bundler, or the host under attack.
test.runIf(isLinux).each([['check', 'plugins/scim'], ['verify']])(
  'keyway %s prints no errors about children that were interrupted before it',
  async (...args) => {
    const temporary = path.join(home, `of-${args[0]}-late`)
    await mkdir(temporary)
    const command = begin(args, { env: settings({ TMPDIR: temporary }) })
    await until(
      'the command has a temporary folder',
      async () => (await readdir(temporary)).length > 0,
    )
    const started = await until('the command has a child process', () => {
      const pids = childrenOf(command.pid)
      return pids.length > 0 && pids
    })
    command.kill('SIGSTOP')
    command.killGroup('SIGINT')
    const over = () => started.every((pid) => !isAlive(pid))
    // A child in a separate process group does not receive the signal.
    await until('the command has ended', over, 1000).catch(() => {})
    command.killGroup('SIGCONT')
    expect(await command.ended).toEqual({ code: 130, signal: null })
    expect(command.output()).not.toMatch(UGLY)
    await until('all its processes have ended', over)
  },
)

// The host under attack is in a separate process group, and the killed command cannot end it.
test.runIf(isLinux)('keyway verify leaves no process behind when it is killed', async () => {
  const temporary = path.join(home, 'of-killed')
  await mkdir(temporary)
  const command = begin(['verify'], { env: settings({ TMPDIR: temporary }) })
  const started = await until('the command has started a host', () => {
    const pids = childrenOf(command.pid)
    return pids.length > 0 && pids
  })
  command.kill('SIGKILL')
  expect(await command.ended).toEqual({ code: null, signal: 'SIGKILL' })
  await until('the host has ended', () => started.every((pid) => !isAlive(pid)))
})

describe('keyway start', () => {
  test.each<[what: string, more: Record<string, string>, says: RegExp]>([
    ['an invalid port', { PORT: 'abc' }, /PORT: "abc" is not a whole number/],
    ['a port that is too high', { PORT: '70000' }, /PORT: "70000" is not between 0 and 65535/],
    [
      'two invalid settings',
      { PORT: 'x', KEYWAY_LOG_LEVEL: 'loud' },
      /PORT[^\n]*\nKEYWAY_LOG_LEVEL/,
    ],
    ['an open address without a token', { HOST: '0.0.0.0' }, /HOST: .*KEYWAY_CONNECTOR_TOKEN/],
    [
      'an address of another machine',
      { HOST: '203.0.113.7', KEYWAY_OPEN_CONNECTORS: '1' },
      /HOST: 203\.0\.113\.7 is not an address of this machine/,
    ],
    ['a short secret', { KEYWAY_SECRET: 'short' }, /KEYWAY_SECRET: has fewer than 32/],
    [
      'an invalid grant',
      { KEYWAY_PRIVATE_EGRESS: 'scim' },
      /KEYWAY_PRIVATE_EGRESS: "scim" is not connector_id=host:port/,
    ],
    ['an invalid proxy', { HTTPS_PROXY: 'ftp://proxy' }, /HTTPS_PROXY is not a proxy's address/],
  ])('refuses %s with a message that names the setting', async (_what, more, says) => {
    for (const verb of [['start'], ['dev', fixture('probe')]]) {
      const { code: exit, output } = await run(verb, { env: settings(more) })
      expect(output).toMatch(says)
      expect(output).not.toMatch(UGLY)
      expect(exit).toBe(1)
    }
  })

  test('refuses a data directory that is a file', async () => {
    const env = settings({ KEYWAY_DATA_DIR: path.join(import.meta.dirname, 'cli.test.ts') })
    const { code: exit, output } = await run(['start'], { env })
    expect(output).toMatch(/KEYWAY_DATA_DIR: .*cli\.test\.ts/)
    expect(output).not.toMatch(UGLY)
    expect(exit).toBe(1)
  })

  test('reports that its port, or that of the sample, is taken', async () => {
    const taken = String(await listen(createServer()))
    const main = await run(['start'], { env: settings({ PORT: taken }) })
    expect(main.output).toMatch(new RegExp(`PORT: .*${taken} is used by another program`))
    const sample = await run(['start', '--sample', '--sample-port', taken], { env: settings() })
    expect(sample.output).toMatch(
      new RegExp(`--sample-port: .*${taken} is used by another program`),
    )
    const none = await run(['start', '--sample', '--sample-port', 'abc'], { env: settings() })
    expect(none.output).toMatch(/--sample-port.*abc/)
    expect([main, sample, none].map(({ code: exit }) => exit)).toEqual([1, 1, 2])
    for (const { output } of [main, sample, none]) expect(output).not.toMatch(UGLY)
  })

  const slow = async () => {
    const folder = path.join(home, 'plugins', 'slow')
    await mkdir(folder, { recursive: true })
    await writeFile(path.join(folder, 'connector.json'), JSON.stringify(manifest('slow')))
    await writeFile(
      path.join(folder, 'connector.ts'),
      code(`async list_accounts() {
        await new Promise((resolve) => setTimeout(resolve, 1500))
        return [{ integration_specific_id: 'answered' }]
      },`),
    )
    const command = begin(['start'], { env: settings({ KEYWAY_LOG_LEVEL: 'debug' }) })
    const [, url] = await command.prints(/"url":"([^"]+)"/)
    await command.prints(/"msg":"ready"/)
    const answer = post(`${url}/connectors/slow/list_accounts`, withToken())
    const calls = async () => (await send(`${url}/metrics`, {})).text
    await until('the call runs', async () => (await calls()).includes('keyway_calls_running 1'))
    return { command, answer }
  }

  // A terminal sends SIGINT to all of its processes, and npm passes it on a second time.
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'completes running calls before %s ends it',
    async (signal) => {
      const tookMs = await bestMs(3000, async () => {
        const { command, answer } = await slow()
        command.killGroup(signal)
        command.killGroup(signal)
        const { status, text } = await answer
        expect([status, JSON.parse(text).response]).toMatchObject([
          200,
          [{ integration_specific_id: 'answered' }],
        ])
        const answeredMs = performance.now()
        expect(await command.ended).toEqual({ code: 0, signal: null })
        const endedMs = performance.now()
        if (isLinux) expect(processesWith(path.join(home, 'data'))).toEqual([])
        return endedMs - answeredMs
      })
      // The caller keeps its connection open; waiting for it to close would take 5 s.
      expect(tookMs).toBeLessThan(3000)
    },
  )

  test('ends at once at a second signal', async () => {
    const { command, answer } = await slow()
    const gone = expect(answer).rejects.toThrow()
    command.kill('SIGTERM')
    await new Promise((resolve) => setTimeout(resolve, 1100))
    command.kill('SIGTERM')
    await gone
    expect(await command.ended).toEqual({ code: 1, signal: null })
  })

  test('creates keys that only the owner can read, and prints no token', async () => {
    const data = path.join(home, 'fresh')
    const command = begin(['start'], { env: settings({ KEYWAY_DATA_DIR: data }), isFirst: true })
    await command.prints(/"msg":"ready"/)
    const token = (await readFile(path.join(data, 'admin-token'), 'utf8')).trim()
    expect(token).toMatch(/^lsk_.{40,}$/)
    expect(command.output()).toContain(path.join(data, 'admin-token'))
    expect(command.output()).not.toContain(token)
    const [, url] = await command.prints(/"url":"([^"]+)"/)
    const { status } = await send(`${url}/operator/connectors`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(status).toBe(200)
    command.kill('SIGTERM')
    expect((await command.ended).code).toBe(0)
    await rm(data, { recursive: true })
  })
})

test('keyway and keyway --help list the commands, and an unknown command is refused', async () => {
  const { code, output } = await run(['--help'])
  expect(code).toBe(0)
  for (const verb of ['start', 'new', 'check', 'dev', 'login-link']) expect(output).toContain(verb)
  expect(await run([])).toMatchObject({ code: 2, output })
  const unknown = await run(['frobnicate'])
  expect(unknown.code).toBe(2)
  expect(unknown.output).toMatch(/unknown command 'frobnicate'/)
})
