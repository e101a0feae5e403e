/** Runs the real command against a real host that listens on loopback. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { serve } from '@hono/node-server'
import type { Made } from '../connectors/lifecycle/packaging.ts'
import { ADMIN_TOKEN, type CoreHost, startCore } from '../core/host.ts'
import { type Ended, MAIN, runCommand } from '../kit/commands.ts'
import { basics } from '../kit/program.ts'

export const ROOT: string = path.join(import.meta.dirname, '..', '..')

export type Run = { env?: Record<string, string>; cwd?: string }

/** Starts `keyway ...args` in a process of its own. */
export function begin(args: readonly string[], { env = {}, cwd = ROOT }: Run = {}): ChildProcess {
  return spawn(process.execPath, ['--no-warnings', MAIN, ...args], {
    cwd,
    env: { ...basics(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Runs `keyway ...args` to its end, in a process that is reused for several commands. */
export const keyway = (
  args: readonly string[],
  { env = {}, cwd = ROOT }: Run = {},
): Promise<Ended> => runCommand(args, { env: { ...basics(), ...env }, cwd })

export type Running = {
  core: CoreHost
  url: string
  /** A folder for files, in which commands run. */
  home: string
  /** Runs a command as the operator of this host. */
  keyway(...args: string[]): Promise<Ended>
  /** The same with `--json`; throws if the output is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  json(...args: string[]): Promise<{ code: number; answer: any }>
  env: Record<string, string>
  /** Writes a file into `home`, and returns its name. */
  file(name: string, content: string | Uint8Array | object): Promise<string>
  /** Saves the package as a file, next to its signature. */
  saved(made: Made): Promise<string>
  /** Installs it with `--grant-all`; throws if it is refused. */
  install(made: Made): Promise<string>
  stop(): Promise<void>
}

/** A host that listens on loopback, and a folder to work in. */
export async function startRunning(env: Record<string, string> = {}): Promise<Running> {
  const core = await startCore(env)
  const server = serve({ fetch: core.host.app.fetch, hostname: '127.0.0.1', port: 0 }) as Server
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const home = await mkdtemp(path.join(tmpdir(), 'keyway-cli-'))
  const own = { PORT: String(port), KEYWAY_ADMIN_TOKEN: ADMIN_TOKEN }
  const run = (...args: string[]) => keyway(args, { env: own, cwd: home })
  const file = async (name: string, content: string | Uint8Array | object) => {
    const isPlain = typeof content === 'string' || content instanceof Uint8Array
    await writeFile(path.join(home, name), isPlain ? content : JSON.stringify(content))
    return name
  }
  const saved = async ({ id, version, packed, signature }: Made) => {
    const name = await file(`${id}-${version}.tgz`, packed)
    await file(`${name}.sig`, signature)
    return name
  }
  return {
    core,
    url: `http://127.0.0.1:${port}`,
    home,
    env: own,
    keyway: run,
    async json(...args) {
      const { code, out, err } = await run(...args, '--json')
      try {
        return { code, answer: JSON.parse(out) }
      } catch {
        throw new Error(`keyway ${args.join(' ')} --json printed no JSON:\n${out}${err}`)
      }
    },
    file,
    saved,
    async install(made) {
      const name = await saved(made)
      const { code, err } = await run('install', name, '--grant-all')
      if (code !== 0) throw new Error(err)
      return name
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await core.stop()
      await rm(home, { recursive: true, force: true })
    },
  }
}
