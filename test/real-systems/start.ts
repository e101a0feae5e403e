/** Starts the third-party servers of this folder for tests, in temporary folders outside the repository. */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../free-port.ts'

const run = promisify(execFile)

/** Programs that a script of this folder needs on the PATH. */
const TOOLS = ['bash', 'curl', 'jq', 'npm', 'setsid', 'timeout']

/** Why the scripts cannot run here, or null when they can: for `describe.skipIf` and its title. */
export function missing(...more: string[]): string | null {
  if (process.platform !== 'linux') return 'needs Linux'
  const absent = [...TOOLS, ...more].filter(
    (tool) => spawnSync(tool, ['--version']).error !== undefined,
  )
  return absent.length === 0 ? null : `needs ${absent.join(', ')}`
}

/** Access data of `oidc-scim`. */
export type OidcAuth = { tokenUrl: string; authorizationUrl: string; redirectUri: string }

/** Data of a started server, and functions to stop it. */
export type RealSystem<Auth = OidcAuth> = {
  baseUrl: string
  auth: Auth
  /** Restarts it with fresh data and other environment variables, on another port. */
  restart(env: Record<string, string>): Promise<RealSystem<Auth>>
  /** Stops it and removes its folder. */
  stop(): Promise<void>
}

/**
 * Installs (5 to 10 s) and starts a server: `startSystem('oidc-scim', { RATE_LIMIT: '100000' })`. It shares
 * no state; call `stop` at the end.
 */
export async function startSystem<Auth = OidcAuth>(
  script: string,
  env: Record<string, string> = {},
): Promise<RealSystem<Auth>> {
  return start(script, await folderFor(script), env)
}

/** One of the services that `emulate` emulates. */
export type Emulated = {
  baseUrl: string
  auth: { token: string }
  oauth: { authorizationUrl: string; tokenUrl: string; clientId: string; clientSecret: string }
}

/** All services that `emulate` emulates, with state in memory. */
export type Emulate = {
  redirectUri: string
  github: Emulated
  okta: Emulated
  slack: Emulated
  stop(): Promise<void>
}

/** Installs (2 to 7 s) and starts `emulate`. */
export const startEmulate = async (): Promise<Emulate> =>
  (await startSystem('emulate')) as unknown as Emulate

/** Data of `openldap` and `samba-ad` in addition to their URL. */
export type OpenLdap = {
  url: string
  ldapsUrl: string
  /** File with the certificate of its authority. */
  ca: string
  baseDn: string
  auth: { bindDn: string; password: string }
}

/** A server that is installed but not started. */
export type Installed<Auth> = { start(env?: Record<string, string>): Promise<RealSystem<Auth>> }

/** Data of `postgresql`. */
export type Postgresql = {
  host: string
  port: number
  database: string
  /** Its major version: `15`. */
  version: string
  /** File with the certificate of its authority. */
  ca: string
  auth: { username: string; password: string }
}

/** Data of `mariadb`. */
export type Mariadb = {
  host: string
  port: number
  /** Its version: `10.11.19`. */
  version: string
  /** File with the certificate of its authority. */
  ca: string
  auth: { username: string; password: string }
}

/**
 * Installs a server without starting it (RabbitMQ: 60 MB, 5 to 10 s), or returns why it cannot be installed
 * here: the package or the network may be missing.
 */
export async function installSystem<Auth>(
  script: string,
): Promise<{ system: Installed<Auth> } | { why: string }> {
  const folder = await folderFor(script)
  try {
    await runScript(script, { prefix: ['timeout', `${INSTALL_SECONDS}`] }, 'install', folder)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    const { code, stderr } = error as { code?: unknown; stderr?: unknown }
    const said = String(stderr ?? error).trim()
    // 124 is the exit code of `timeout`.
    const why = code === 124 ? `not within ${INSTALL_SECONDS} s` : said.split('\n').at(-1)
    return { why: `cannot be installed: ${why}` }
  }
  return { system: { start: (env = {}) => start<Auth>(script, folder, env) } }
}

const folderFor = (script: string) => mkdtemp(join(tmpdir(), `keyway-${script}-`))

/** Longest installation: without a network, apt tries for minutes. */
const INSTALL_SECONDS = 90

/** `prefix`: a command that runs the script, such as `timeout`, which ends its children as well. */
type RunOptions = { env?: Record<string, string>; prefix?: readonly string[] }

async function runScript(script: string, { env, prefix = [] }: RunOptions, ...args: string[]) {
  // This Node comes first, so that the scripts need not install one.
  const path = `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`
  const file = join(import.meta.dirname, `${script}.sh`)
  const [command = 'bash', ...rest] = [...prefix, 'bash', file, ...args]
  const { stdout } = await run(command, rest, { env: { ...process.env, ...env, PATH: path } })
  return stdout
}

async function start<Auth>(
  script: string,
  folder: string,
  env: Record<string, string>,
): Promise<RealSystem<Auth>> {
  const port = String(await freePort(PORTS[script]))
  const shown = JSON.parse(await runScript(script, { env }, 'start', folder, port))
  return {
    ...shown,
    async restart(other) {
      await runScript(script, { env }, 'reset', folder)
      return start(script, folder, other)
    },
    async stop() {
      await runScript(script, { env }, 'stop', folder)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Number of consecutive ports of a script, unless it is one. */
const PORTS: Record<string, number> = { rabbitmq: 4, emulate: 4, influxdb: 2, openldap: 2, 'samba-ad': 2, '389-ds': 2, mail: 3 }

/** A token of `oidc-scim` for the service itself, by client credentials. */
export async function serviceToken(system: RealSystem, scope: string): Promise<string> {
  const reply = await fetch(system.auth.tokenUrl, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('service:service-secret')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope }),
  })
  const { access_token: token } = (await reply.json()) as { access_token?: string }
  if (token === undefined) throw new Error(`No token: ${reply.status}`)
  return token
}
