/** Tests the login-link command, with and without a running host. */
import { createServer } from 'node:http'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newLoginLink } from '../../runtime/cli/login-link.ts'
import { ConfigError } from '../../runtime/config/config.ts'
import { listen, stopAll } from '../egress/fixtures/upstream.ts'
import { withFirstStart } from '../kit/template.ts'
import { begin, newHome, run, stopCommands } from './command.ts'

/** A stack trace or a class name instead of a message. */
const UGLY = /\n {4}at |node:internal|Error:|Node\.js v/

let env: Record<string, string>
let url: string

beforeAll(async () => {
  const dataDir = await withFirstStart(path.join(await newHome(), 'data'))
  env = { PORT: '0', KEYWAY_DATA_DIR: dataDir, KEYWAY_DROP_IN: 'off' }
  const command = begin(['start'], { env })
  url = (await command.prints(/"url":"([^"]+)"/))[1] ?? ''
})
afterAll(async () => {
  await stopCommands()
  await stopAll()
})

test('login-link calls the host at HOST and PORT, and waits for its database', async () => {
  const { port } = new URL(url)
  const { code, output } = await run(['login-link'], { env: { ...env, PORT: port } })
  expect(output).toMatch(/sign in as admin@localhost; it works once:\n\n {2}http:/)
  expect(output).toContain(`${url}/settings/sign-in#code=kwl_`)
  expect(code).toBe(0)
})

const ask = (more: Record<string, string>, options: { email?: string; url?: string }) =>
  newLoginLink({ ...env, ...more }, { email: 'admin@localhost', ...options })

test('login-link calls a host that listens on every address through loopback', async () => {
  const { port } = new URL(url)
  const text = await ask({ HOST: '0.0.0.0', PORT: port }, {})
  expect(text).toContain(`http://127.0.0.1:${port}/settings/sign-in#code=kwl_`)
})

test.each<[what: string, more: Record<string, string>, options: object, says: RegExp]>([
  ['there is no such user', {}, { email: 'nobody@x' }, /There is no user nobody@x/],
  ['no host answers', {}, { url: 'http://127.0.0.1:1' }, /No Keyway answers at .*keyway start/],
  ['the address is invalid', {}, { url: 'keyway' }, /--url: keyway is not an address/],
  ['the address has a path', {}, { url: 'http://h/p' }, /--url: .* is not an address/],
  ['the port is not known', {}, { url: undefined }, /PORT is 0.*--url/],
  [
    'the token is wrong',
    { KEYWAY_ADMIN_TOKEN: `lsk_${'x'.repeat(40)}` },
    {},
    /does not accept the token of KEYWAY_ADMIN_TOKEN/,
  ],
  ['the token file is missing', { KEYWAY_DATA_DIR: '/nowhere' }, {}, /cannot be read.*\/nowhere/],
])('login-link reports that %s', async (_what, more, options, says) => {
  const failed = ask(more, { url, ...options })
  await expect(failed).rejects.toThrow(ConfigError)
  await expect(failed).rejects.toThrow(says)
})

test('login-link does not send the token to another program on the port, and follows no redirect', async () => {
  const heard: unknown[] = []
  const port = await listen(
    createServer((request, response) => {
      heard.push(request.headers.authorization)
      response.writeHead(307, { location: url + (request.url ?? '') }).end('{}')
    }),
  )
  await expect(ask({}, { url: `http://127.0.0.1:${port}` })).rejects.toThrow('but is not Keyway')
  expect(heard).toEqual([undefined])
})

test('login-link reports a failure in a message, and exits with 1', async () => {
  const { code, output } = await run(['login-link', '--url', 'http://127.0.0.1:1'], { env })
  expect(output).toMatch(/^No Keyway answers at/)
  expect(output).not.toMatch(UGLY)
  expect(code).toBe(1)
})
