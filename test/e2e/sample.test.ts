/** Follows the getting-started pages: the real command with its sample directory, called as they say. */
import { execFile, spawnSync } from 'node:child_process'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { people } from '../../runtime/sample/people.ts'
import { freePort } from '../free-port.ts'
import { readPage, shellBlock } from '../pages.ts'
import { send } from './client.ts'
import { begin, type Command, KEYWAY, newHome, processesWith, stopCommands } from './command.ts'
import type { Answer } from './host.ts'
import { createJudge, type Judge } from './judge.ts'
import { isAlive, until } from './until.ts'

type Account = { integration_specific_id: string; user_status: string }
type Running = {
  command: Command
  home: string
  data: string
  url: string
  curl: string
  body: object
  /** What /readyz waited for during the start, and the tasks at the moment when it became ready. */
  waitedFor: ReadonlySet<string>
  firstTasks: string
}

/** Starts the command: for the first time, or with the data of an earlier run. */
async function start(before?: Running): Promise<Running> {
  const home = before?.home ?? (await newHome())
  const data = path.join(home, 'data')
  // The port must be known in advance: egress to loopback is granted at the start.
  const port = await freePort()
  const command = begin(['start', '--sample', '--sample-port', String(port)], {
    isFirst: before === undefined,
    // As in a clone.
    env: {
      PORT: '0',
      KEYWAY_DATA_DIR: data,
      KEYWAY_PLUGINS_DIR: path.join(home, 'plugins'),
      KEYWAY_PRIVATE_EGRESS: `desk=127.0.0.1:${port}`,
    },
  })
  const [, origin = ''] = await command.prints(/"url":"([^"]+)"/)
  const waitedFor = new Set<string>()
  await until('the sample is ready', async () => {
    const { status, text } = await send(`${origin}/readyz`, {})
    for (const what of JSON.parse(text).waiting_for) waitedFor.add(what)
    return status === 200
  })
  const token = (await readFile(path.join(data, 'admin-token'), 'utf8')).trim()
  const headers = { authorization: `Bearer ${token}` }
  const firstTasks = (await send(`${origin}/tasks?status=PENDING`, { headers })).text
  const [curl, url = '', body = ''] = await command.prints(/curl -s (\S+) [\s\S]*? -d '(\{.*\})'/)
  return { command, home, data, url, curl, body: JSON.parse(body), waitedFor, firstTasks }
}

const hasCurl = spawnSync('curl', ['--version']).error === undefined
const isLinux = process.platform === 'linux'

afterAll(stopCommands)

let running: Running

describe('keyway start --sample', () => {
  let judge: Judge

  beforeAll(async () => {
    running = await start()
    judge = createJudge((await send(new URL('/openapi.json', running.url).href, {})).text)
  })

  test('is ready only once its company exists, so that pasted commands work', () => {
    expect(JSON.parse(running.firstTasks).items).toHaveLength(2)
    expect(running.waitedFor).toContain('creating the sample company')
    const [before = ''] = running.command.output().split('"msg":"ready"')
    expect(before).toContain('"msg":"the sample company was created"')
  })

  async function page(token: string | null, size: number | null): Promise<Answer['body']> {
    const { text, status } = await send(running.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...running.body, page: { token, size } }),
    })
    judge('POST', new URL(running.url).pathname, status, text)
    return JSON.parse(text)
  }

  test.each(['README.md', 'runtime/docs/start.md'])(
    'prints the call that %s shows, with its own ports',
    (page) => {
      const [shown = ''] = /curl -s \S+list_accounts[\s\S]*?(?=\n```)/.exec(readPage(page)) ?? []
      const plain = (text: string) =>
        text
          .replace(/\\\n/g, ' ')
          .replace(/\s+/g, ' ')
          .replace(/:\d{4,5}\b/g, ':0')
      expect(plain(running.curl)).toBe(plain(shown))
    },
  )

  test.skipIf(!hasCurl)(
    `prints a command that works as it is${hasCurl ? '' : ' (needs curl)'}`,
    async () => {
      const { stdout } = await promisify(execFile)('sh', ['-c', running.curl])
      expect(JSON.parse(stdout)).toMatchObject({
        response: [{}, {}, {}, {}, {}],
        page: { size: 5 },
      })
    },
  )

  test.skipIf(!hasCurl)(
    `connects an app with the command of the page${hasCurl ? '' : ' (needs curl)'}`,
    async () => {
      const { origin } = new URL(running.url)
      const directory = (running.body as { settings: { base_url: string } }).settings.base_url
      const here = pasted(/^curl -s \S+\/apps /, 'runtime/docs/administer/apps.md').replace(
        'http://127.0.0.1:8090/scim',
        directory,
      )
      const ready = async () => (await send(`${origin}/readyz`, {})).status === 200
      await until('the database is ready', ready)
      const { stdout } = await promisify(execFile)('sh', ['-c', here])
      expect(JSON.parse(stdout)).toMatchObject({ app_class_id: 'scim', disconnected: false })
    },
  )

  /** A code block of a page with the addresses and files of this run, as a person would paste it. */
  function pasted(begins: RegExp, page = 'runtime/docs/start.md'): string {
    return shellBlock(begins, page)
      .replaceAll('http://127.0.0.1:8080', new URL(running.url).origin)
      .replaceAll('data/admin-token', path.join(running.data, 'admin-token'))
  }

  test.skipIf(!hasCurl)(
    `completes a task with the commands of the page${hasCurl ? '' : ' (needs curl)'}`,
    async () => {
      const { stdout } = await promisify(execFile)('sh', [
        '-c',
        pasted(
          /^core\(\) \{ curl -sS -H "authorization: Bearer \$\(cat data\/admin-token\)" "\$@"/,
        ),
      ])
      const [me, tasks, actions, completed, apps] = stdout.trim().split('\n')
      const open = JSON.parse(tasks ?? '').items
      expect(JSON.parse(me ?? '')).toMatchObject({ email: 'admin@localhost' })
      expect(open).toHaveLength(2)
      expect(JSON.parse(actions ?? '')).toContainEqual(
        expect.objectContaining({ transitions: [{ transition_to: 'COMPLETED' }] }),
      )
      expect(completed).toBe('204')
      const { items } = JSON.parse(apps ?? '')
      expect(items.map((one: { user_friendly_label: string }) => one.user_friendly_label)).toEqual([
        'Data Warehouse',
        'Design Studio',
      ])
    },
  )

  test.skipIf(!hasCurl)(
    `grants and revokes access with the commands of the page${hasCurl ? '' : ' (needs curl)'}`,
    async () => {
      const [core = '', api = ''] = pasted(
        /^core\(\) \{ curl -sS -H "authorization: Bearer \$\(cat data\/admin-token\)" "\$@"/,
      ).split('\n')
      const commands = pasted(/^first\(\)/)
        .replace('in_seconds\\":30', 'in_seconds\\":6')
        .replace('sleep 35', 'sleep 8')
        .replace('http://127.0.0.1:8090', new URL(directoryUrl()).origin)
      const script = [core, api, commands].join('\n')
      const { stdout } = await promisify(execFile)('sh', ['-c', script])
      const [approved, given, members, over, left] = stdout.trim().split('\n')
      expect(approved).toBe('204')
      expect(JSON.parse(given ?? '')).toMatchObject({
        status: 'COMPLETED',
        app_name: 'Design Studio',
        target_user: { given_name: 'Hana' },
      })
      expect(members).toContain('u-021')
      expect(JSON.parse(over ?? '').status).toBe('TIME_BASED_EXPIRED')
      expect(left).not.toContain('u-021')
    },
  )

  test.skipIf(!hasCurl)(
    `gets from a connector to granted access in the ten commands of the page${hasCurl ? '' : ' (needs curl)'}`,
    async () => {
      const npx = path.join(running.home, 'npx')
      await writeFile(npx, `#!/bin/sh\nshift\nexec "${process.execPath}" "${KEYWAY}" "$@"\n`)
      await chmod(npx, 0o755)
      const block = pasted(/^core\(\) \{.*content-type/)
      const lines = block.trim().split('\n')
      const begins = lines.findIndex((line) => line.includes('npx keyway start'))
      // The host is already running, with the same grant and its sample.
      expect(lines[begins]).toMatch(
        /^KEYWAY_PRIVATE_EGRESS='desk=127.0.0.1:8090' npx keyway start --sample > \S+ 2>&1 &$/,
      )
      expect(lines.slice(begins)).toHaveLength(10)
      const commands = [...lines.slice(0, begins), ...lines.slice(begins + 1)]
        .join('\n')
        .replaceAll('http://127.0.0.1:8090', new URL(directoryUrl()).origin)
      const asked = 'core $api/appstore/access_requests/$request'
      const script = `${commands}
        until ${asked} | grep COMPLETED; do sleep 1; done`
      const { PATH } = process.env
      const { port } = new URL(running.url)
      const { stdout } = await promisify(execFile)('sh', ['-ec', script], {
        cwd: running.home,
        env: { ...process.env, PATH: `${running.home}:${PATH}`, PORT: port },
        timeout: 100_000,
      })
      expect(stdout).toMatch(/desk: serves 1\.0\.0/)
      expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
        status: 'COMPLETED',
        app_name: 'Help Desk',
        target_user: { given_name: 'Hana' },
        requestable_permissions: [{ label: 'Office Move 2027', app_class_id: 'desk' }],
      })
      const group = await send(`${directoryUrl()}/Groups/g-12`, {
        headers: { authorization: 'Bearer sample-token' },
      })
      expect(group.text).toContain('u-021')
    },
    120_000,
  )

  const directoryUrl = () => (running.body as { settings: { base_url: string } }).settings.base_url

  test.skipIf(!hasCurl)(
    `prints a call that lists the open tasks${hasCurl ? '' : ' (needs curl)'}`,
    async () => {
      const [call] = await running.command.prints(/curl -s '\S+\/tasks\S+ -H "[^"]+"/)
      const { stdout } = await promisify(execFile)('sh', ['-c', call])
      const { items } = JSON.parse(stdout)
      expect(items).not.toEqual([])
      for (const one of items) expect(one.status).toBe('PENDING')
    },
  )

  test.each([1, 7, 100, null])(
    'lists every account exactly once in pages of %s',
    async (size) => {
      const found: Account[] = []
      let token: string | null = null
      do {
        const body = await page(token, size)
        found.push(...(body.response as Account[]))
        token = body.page?.token ?? null
      } while (token !== null)
      const expected = people().map(({ id, active }) => [id, active ? 'ACTIVE' : 'SUSPENDED'])
      const listed = found.map((one) => [one.integration_specific_id, one.user_status])
      expect(listed.sort()).toEqual(expected.sort())
    },
    120_000,
  )

  test('logs JSON lines, none of which contains the token', () => {
    const lines = running.command
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
    for (const line of lines) {
      expect(() => JSON.parse(line)).not.toThrow()
      expect(line).not.toContain('sample-token')
    }
    expect(lines.some((line) => line.includes('"Keyway listens"'))).toBe(true)
  })

  test('ends on SIGTERM, with all processes that it started', async () => {
    const { command, data, url } = running
    await page(null, 5)
    const workers = isLinux ? processesWith(data) : []
    if (isLinux) expect(workers.length).toBeGreaterThan(0)
    command.kill('SIGTERM')
    expect(await command.ended).toEqual({ code: 0, signal: null })
    await until('the workers have ended', () => !workers.some(isAlive))
    await expect(send(url, {})).rejects.toThrow(/ECONNREFUSED/)
  })
})

describe.skipIf(!isLinux)(`killed with SIGKILL${isLinux ? '' : ' (needs Linux)'}`, () => {
  test('leaves no process and no open port', async () => {
    const { command, data, url, body } = await start(running)
    await send(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const workers = processesWith(data)
    expect(workers.length).toBeGreaterThan(0)
    command.kill('SIGKILL')
    await command.ended
    await until('the workers have ended', () => !workers.some(isAlive))
    await expect(send(url, {})).rejects.toThrow(/ECONNREFUSED/)
  })
})
