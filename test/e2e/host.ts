/**
 * A whole host for tests: in this process, on a free port of loopback, with separate data and plugin
 * directories. It uses real workers, real isolates, real files.
 *
 * Two things are checked in every test: each JSON answer conforms to its operation in /openapi.json, and no
 * log line contains a credential that was sent.
 */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { listen } from '../../runtime/cli/serve.ts'
import { readConfig } from '../../runtime/config/config.ts'
import { CLEAR_KEY_MEMBERS } from '../../runtime/contract/connector/authentication.ts'
import { createHost, type Host } from '../../runtime/main.ts'
import { createLog } from '../../runtime/observe/log.ts'
import type { Files } from '../fixtures/folders.ts'
import { withVerdicts } from '../kit/template.ts'
import { builtWorker } from '../kit/worker.ts'
import { type Received, type Sent, send } from './client.ts'
import { judgeOfHost } from './judge.ts'
import { isAlive, until } from './until.ts'

export type Page = { token: string | null; size: number | null }

/** The error object of service.md section 7.1. */
export type WireError = {
  message: string
  error_code: string
  app_id: string
  status_code: number | null
  app_error_code: string | null
  raised_by: string | null
  raised_in: string | null
}

/** The answer of a capability: a success or a handled error. */
export type Answer = {
  status: number
  headers: Received['headers']
  body: {
    response?: unknown
    raw_data: unknown
    page: Page | null
    is_error?: true
    error?: WireError
  }
}

/** A row of `GET /operator/connectors`. */
export type Row = {
  id: string | null
  version: string | null
  digest: string | null
  source: string
  state: string
  reason: string | null
  serving: boolean
  folder: string
}

export type HostOptions = {
  /** Settings in addition to those of the harness. */
  env?: Record<string, string>
  /** Connector folders that exist at the start, by name; a text is a folder to copy. */
  connectors?: Record<string, Files | string>
  /** How long a stop waits for calls, in milliseconds. */
  drainMs?: number
  /** Folder of an earlier host to continue with: its data and its plugins. */
  home?: string
}

export type TestHost = {
  url: string
  /** Contains `data` and `plugins`; `stop` removes it unless `keep` is set. */
  home: string
  host: Host
  /** Calls a capability. */
  call(id: string, capability: string, envelope: object, headers?: Sent['headers']): Promise<Answer>
  /** Sends any request. */
  send(at: string, sent?: Sent): Promise<Received>
  /** All pages of a listing, each as the list of its items. */
  pages<T>(id: string, capability: string, envelope: object, size?: number): Promise<T[][]>
  operator(): Promise<Row[]>
  /** Writes files into a connector's folder in the plugin directory. */
  drop(name: string, files: Files): Promise<void>
  /** Removes a connector's folder. */
  remove(name: string): Promise<void>
  /** Waits until a version is served. */
  served(id: string, version: string): Promise<Row>
  /** Waits until the newest content of a folder is a ghost; the row contains the reason. */
  ghost(name: string, because?: RegExp): Promise<Row>
  /** Log lines so far. */
  readonly lines: readonly string[]
  stop(options?: { keep?: boolean }): Promise<void>
}

/** Members of credentials that are not secret. */
const CLEAR: readonly string[] = [
  ...CLEAR_KEY_MEMBERS,
  'impersonation_email',
  'tenant_id',
  'service_type',
  'id',
  'username',
  'client_id',
  'scopes',
  'key_identifier',
  'consumer_key',
  'token_id',
]

export const ADMIN_TOKEN = 'lsk_end-to-end-operator-token-0123456789'

export async function startHost(options: HostOptions = {}): Promise<TestHost> {
  const { env = {}, connectors = {} } = options
  const home = options.home ?? (await mkdtemp(path.join(tmpdir(), 'keyway-e2e-')))
  const plugins = path.join(home, 'plugins')
  await mkdir(plugins, { recursive: true })
  for (const [name, files] of Object.entries(connectors))
    await write(path.join(plugins, name), files)

  const data = path.join(home, 'data')
  if (options.home === undefined) withVerdicts(data)
  const lines: string[] = []
  const secrets = new Set([ADMIN_TOKEN, env['KEYWAY_CONNECTOR_TOKEN'], env['KEYWAY_SECRET']])
  const config = readConfig({
    PORT: '0',
    KEYWAY_DATA_DIR: data,
    KEYWAY_PLUGINS_DIR: plugins,
    KEYWAY_ADMIN_TOKEN: ADMIN_TOKEN,
    KEYWAY_LOG_LEVEL: 'trace',
    ...env,
  })
  const worker = builtWorker()
  const host = await createHost(
    config,
    createLog(config.logLevel, { write: (line: string) => void lines.push(line) }),
    {},
    // These tests need no database; test/core has one.
    { database: 'none', ...(worker ? { worker } : {}) },
  )
  const listening = await listen(host, config, options.drainMs)
  await host.settled
  const { url } = listening
  const authorization: Record<string, string> = config.connectorToken
    ? { authorization: `Bearer ${config.connectorToken}` }
    : {}
  const judge = await judgeOfHost(config, async () => (await send(`${url}/openapi.json`, {})).text)

  const sendJudged: TestHost['send'] = async (at, sent = {}) => {
    const received = await send(url + at, sent)
    const { pathname } = new URL(url + at)
    if (!received.headers['x-request-id']) throw new Error(`no x-request-id from ${at}`)
    // A HEAD request has an answer without a body.
    if (received.headers['content-type']?.startsWith('application/json') && received.text !== '')
      judge(sent.method ?? 'GET', pathname, received.status, received.text)
    return received
  }

  const call: TestHost['call'] = async (id, capability, envelope, headers = {}) => {
    for (const secret of secretsIn(envelope)) secrets.add(secret)
    const received = await sendJudged(`${config.connectorsPath}/${id}/${capability}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorization, ...headers },
      body: JSON.stringify(envelope),
    })
    return { status: received.status, headers: received.headers, body: JSON.parse(received.text) }
  }

  const operator = async (): Promise<Row[]> => {
    const { text } = await sendJudged('/operator/connectors', {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    })
    return JSON.parse(text).items
  }

  const folder = (name: string) => path.join(plugins, name)

  return {
    url,
    home,
    host,
    lines,
    call,
    send: sendJudged,
    operator,
    async pages<T>(id: string, capability: string, envelope: object, size?: number) {
      const found: T[][] = []
      let token: string | null = null
      do {
        const page = { token, size: size ?? null }
        const { body }: Answer = await call(id, capability, { ...envelope, page })
        found.push(success<T[]>(body))
        if (body.page && body.page.size !== (size ?? null))
          throw new Error(`the page size changed to ${body.page.size}`)
        token = body.page?.token ?? null
        if (found.length > 2000) throw new Error('more than 2000 pages')
      } while (token !== null)
      return found
    },
    drop: (name, files) => write(folder(name), files),
    remove: (name) => rm(folder(name), { recursive: true }),
    served: (id, version) =>
      until(`${id} ${version} is served`, async () =>
        (await operator()).find(
          (row) => row.id === id && row.version === version && row.serving && row.state === 'ready',
        ),
      ),
    ghost: (name, because = /./) =>
      until(`${name} is a ghost because of ${because}`, async () =>
        (await operator()).find(
          (row) =>
            row.folder === folder(name) && row.state === 'ghost' && because.test(row.reason ?? ''),
        ),
      ),
    async stop({ keep = false } = {}) {
      const workers = host.lanes.states().flatMap(({ pid }) => pid ?? [])
      await listening.stop()
      await until('every worker has ended', () => workers.every((pid) => !isAlive(pid)))
      if (!keep) await rm(home, { recursive: true, force: true })
      for (const secret of secrets) {
        const told = secret && lines.find((line) => line.includes(secret))
        if (told) throw new Error(`the log contains the secret ${secret}: ${told}`)
      }
    },
  }
}

/** The response of a success; otherwise throws the error's message. */
export function success<T>(body: Answer['body']): T {
  if (body.error) throw new Error(`${body.error.error_code}: ${body.error.message}`)
  return body.response as T
}

/** The error of a failure; throws if there is none. */
export function failure({ body }: Answer): WireError {
  if (!body.error) throw new Error(`the call succeeded: ${JSON.stringify(body).slice(0, 500)}`)
  return body.error
}

async function write(folder: string, files: Files | string): Promise<void> {
  if (typeof files === 'string') return cp(files, folder, { recursive: true })
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  }
}

/** Every text below `auth` and `credentials` that is secret and long enough to search for. */
function secretsIn(envelope: object): string[] {
  const { auth, credentials } = envelope as { auth?: unknown; credentials?: unknown }
  return secretValuesIn([auth, credentials], '')
}

function secretValuesIn(value: unknown, name: string): string[] {
  if (typeof value === 'string') return value.length >= 8 && !CLEAR.includes(name) ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) =>
    secretValuesIn(one, Array.isArray(value) ? name : key),
  )
}
