/** Starts the third-party servers of this folder for tests, in temporary folders outside the repository. */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What a script of this folder needs on the PATH. */
const TOOLS = ['bash', 'curl', 'jq', 'npm', 'setsid']

/** Why the scripts cannot run here, or null when they can: for `describe.skipIf` and its title. */
export function missing(): string | null {
  if (process.platform !== 'linux') return 'needs Linux'
  const absent = TOOLS.filter((tool) => spawnSync(tool, ['--version']).error !== undefined)
  return absent.length === 0 ? null : `needs ${absent.join(', ')}`
}

/** A port on loopback that nobody uses at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** What a started server says about itself, and how to end it. */
export type RealSystem = {
  baseUrl: string
  auth: { tokenUrl: string; authorizationUrl: string; redirectUri: string }
  /** Starts it again with fresh data and other environment variables, on another port. */
  restart(env: Record<string, string>): Promise<RealSystem>
  /** Ends it and removes its folder. */
  stop(): Promise<void>
}

/**
 * Installs (5 to 10 s) and starts a server: `startSystem('oidc-scim', { RATE_LIMIT: '100000' })`. All
 * its state is its own; call `stop` at the end.
 */
export async function startSystem(
  script: string,
  env: Record<string, string> = {},
): Promise<RealSystem> {
  const folder = await mkdtemp(join(tmpdir(), `keyway-${script}-`))
  return start(script, folder, env)
}

async function start(
  script: string,
  folder: string,
  env: Record<string, string>,
): Promise<RealSystem> {
  const call = async (...args: string[]) => {
    // This Node first, so that the scripts need not install one.
    const path = `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`
    const file = join(import.meta.dirname, `${script}.sh`)
    const { stdout } = await run('bash', [file, ...args], {
      env: { ...process.env, ...env, PATH: path },
    })
    return stdout
  }
  const shown = JSON.parse(await call('start', folder, String(await freePort())))
  return {
    ...shown,
    async restart(other) {
      await call('reset', folder)
      return start(script, folder, other)
    },
    async stop() {
      await call('stop', folder)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

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
