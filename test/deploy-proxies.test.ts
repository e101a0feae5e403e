/** The shipped proxy configurations, in real proxies before a real host: closed paths stay closed. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pathFault } from '../runtime/http/edge/canonical-path.ts'
import { startHost, type TestHost } from './e2e/host.ts'
import { until } from './e2e/until.ts'
import { freePort } from './free-port.ts'

const read = (name: string): string =>
  readFileSync(path.join(import.meta.dirname, '..', 'scripts', 'deploy', name), 'utf8')

let host: TestHost
let folder: string
beforeAll(async () => {
  host = await startHost()
  folder = await mkdtemp(path.join(tmpdir(), 'keyway-proxy-'))
})
afterAll(async () => {
  await host?.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
})

/** A proxy's configuration for a port of this machine, without TLS; all of its rules are unchanged. */
type Proxy = {
  name: string
  write(port: number, network: string, to: string): Promise<[string, ...string[]]>
}

const PROXIES: readonly Proxy[] = [
  {
    name: 'haproxy',
    async write(port, network, to) {
      const file = path.join(folder, `haproxy-${port}.cfg`)
      const text = replaced(read('haproxy.cfg'), [
        [/bind :443 .*/, `bind 127.0.0.1:${port}`],
        [/10\.0\.0\.0\/8/, network],
        [/server a .*/g, `server a ${new URL(to).host}`],
        [/ *server b .*\n/g, ''],
      ])
      await writeFile(file, text)
      return ['haproxy', '-db', '-f', file]
    },
  },
  {
    name: 'nginx',
    async write(port, network, to) {
      const home = path.join(folder, `nginx-${port}`)
      await mkdir(home)
      const text = replaced(read('nginx.conf'), [
        [/listen 443 ssl;/, `listen 127.0.0.1:${port};`],
        [/ *listen \[::\]:443 ssl;\n/, ''],
        [/ *ssl_certificate .*\n/, ''],
        [/ *ssl_certificate_key .*\n/, ''],
        [/10\.0\.0\.0\/8/, network],
        [/server 127\.0\.0\.1:8080/, `server ${new URL(to).host}`],
      ])
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (kind) => `${kind}_temp_path ${home}/${kind};`,
      )
      const whole = `daemon off; master_process off; pid ${home}/pid; error_log stderr;
        events {} http { access_log off; ${temporary.join(' ')}\n${text} }`
      const file = path.join(home, 'nginx.conf')
      await writeFile(file, whole)
      return ['nginx', '-p', home, '-c', file]
    },
  },
]

/** Fails if a pattern is not in the text: a changed configuration needs a changed test. */
function replaced(text: string, changes: readonly (readonly [RegExp, string])[]): string {
  return changes.reduce((before, [pattern, by]) => {
    expect(before).toMatch(pattern)
    return before.replace(pattern, by)
  }, text)
}

type Answer = { status: number; text: string }

/** Sends a target unchanged, which HTTP clients would not do. */
function ask(port: number, target: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
    })
    socket.on('error', reject)
    socket.on('close', () =>
      resolve({ status: Number(/^HTTP\/1\.[01] (\d+)/.exec(text)?.[1] ?? 0), text }),
    )
    // Not localhost: nginx passes the Host header on.
    socket.write(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`)
  })
}

/** Spellings that some server might take for an address of the operator. */
const SPELLINGS = ['operator/connectors', 'metrics'].flatMap((name) => {
  const [first = '', rest = ''] = [name[0], name.slice(1)]
  const escaped = `%${first.charCodeAt(0).toString(16)}${rest}`
  return [
    `/${name}`,
    `/${escaped}`,
    `/${escaped.toUpperCase().slice(0, 3)}${rest}`,
    `/%25${escaped.slice(1)}`,
    `/%${first.toUpperCase().charCodeAt(0).toString(16)}${rest}`,
    `/x/../${name}`,
    `/x/%2e%2e/${name}`,
    `/x/.%2E/${name}`,
    `/x%2f..%2f${name}`,
    `/./${name}`,
    `/%2e/${name}`,
    `//${name}`,
    `/%2f${name}`,
    `/x//../${name}`,
    `/\\${name}`,
    `/x\\..\\${name}`,
    `/x%5c..%5c${name}`,
    `/;/${name}`,
    `/;x=1/../${name}`,
    `/${name};x=1`,
    `/${name.replace('/', ';/')}`,
    `/${name.replace('/', '%2F')}#`,
    `/${name}#/../healthz`,
    `/${name}%00`,
    `/${name}/.`,
    `/healthz/../${name}`,
    `/healthz%2f..%2f${name}`,
    `/${name.toUpperCase()}`,
    `http://127.0.0.1/${name}`,
    `http://127.0.0.1//${name}`,
    `http://127.0.0.1/x/../${name}`,
    `http://127.0.0.1/${escaped}`,
    `HTTP://127.0.0.1/${escaped}`,
    `http://operator@127.0.0.1/${escaped}`,
    `${name}`,
  ]
})

describe.each(PROXIES)('behind $name', ({ name, write }) => {
  const isThere = spawnSync(name, ['-v']).error === undefined
  const children: ChildProcess[] = []
  /** Starts a proxy that lets `network` reach the operator's addresses; returns its port. */
  async function begin(network: string, to = host.url): Promise<number> {
    const port = await freePort()
    const [command, ...args] = await write(port, network, to)
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    children.push(child)
    let said = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8')
    })
    await until('the proxy forwards requests', async () => {
      if (child.exitCode !== null) throw new Error(`${name} ended: ${said}`)
      return (await ask(port, '/healthz').catch(() => null))?.status === 200
    })
    return port
  }
  afterAll(async () => {
    for (const child of children) {
      child.kill('SIGKILL')
      if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve))
    }
  })

  let outside: number
  test.skipIf(!isThere)('open paths are answered, also with escaped identifiers', async () => {
    outside = await begin('10.0.0.0/8')
    expect((await ask(outside, '/connectors/list-connector-app-ids')).status).toBe(200)
    const { text } = await ask(outside, '/connectors/no%40body%2fa%20b/info')
    expect(text).toContain('"app_id":"no@body/a b"')
  })

  test.skipIf(!isThere)('no spelling of a path reaches a closed path', async () => {
    const lines = host.lines.length
    const answers = await Promise.all(
      SPELLINGS.map(async (target) => ({ target, status: (await ask(outside, target)).status })),
    )
    expect(answers.filter(({ status }) => ![400, 403, 404].includes(status))).toEqual([])
    expect(host.lines.slice(lines).filter((line) => line.includes('token_missing'))).toEqual([])
  })

  test.skipIf(!isThere)(
    'the host gets the address of the caller, whichever header the caller sends',
    async () => {
      const heard: (string | undefined)[] = []
      const behind = createHttpServer(({ headers }, response) => {
        heard.push(headers['x-forwarded-for'] as string | undefined)
        response.end('ok')
      })
      await new Promise<void>((resolve) => behind.listen(0, '127.0.0.1', resolve))
      const { port } = behind.address() as AddressInfo
      const proxy = await begin('127.0.0.0/8', `http://127.0.0.1:${port}`)
      for (const path of ['/settings/sign-in', '/operator/connectors']) {
        heard.length = 0
        const headers = { 'x-forwarded-for': '203.0.113.9', connection: 'close' }
        await fetch(`http://127.0.0.1:${proxy}${path}`, { headers })
        // The health checks of HAProxy have no such header.
        expect(heard.filter((one) => one !== undefined)).toEqual(['127.0.0.1'])
      }
      behind.closeAllConnections()
      await new Promise((resolve) => behind.close(resolve))
    },
  )

  test.skipIf(!isThere)('the allowed network reaches the operator’s addresses', async () => {
    const inside = await begin('127.0.0.0/8')
    expect((await ask(inside, '/operator/connectors')).status).toBe(401)
    expect((await ask(inside, '/metrics')).status).toBe(200)
  })
})

test('without a proxy, an odd spelling is refused with the usual error body', async () => {
  const { port } = new URL(host.url)
  // Node itself refuses other request lines as invalid HTTP.
  const lines = SPELLINGS.filter((target) => /^(\/|http:)/.test(target))
  const odd = lines.filter((target) => pathFault(target) !== null)
  expect(odd.length).toBeGreaterThan(40)
  for (const target of odd) {
    const { status, text } = await ask(Number(port), target)
    expect({ target, status }).toEqual({ target, status: 400 })
    expect(text).toMatch(/x-request-id: /i)
    const { is_error, error } = JSON.parse(text.slice(text.indexOf('\r\n\r\n')))
    expect({ is_error, code: error.error_code }).toEqual({ is_error: true, code: 'bad_request' })
    expect(error.message).toContain('plain form')
  }
})
