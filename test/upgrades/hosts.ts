/** Starts hosts that share only one PostgreSQL, behind a plain load balancer. */
import { readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createConnection, createServer } from 'node:net'
import path from 'node:path'
import { send } from '../e2e/client.ts'
import { begin, type Command } from '../e2e/command.ts'
import { until } from '../e2e/until.ts'
import { openTestDatabase } from '../kit/databases.ts'
import { newFolder } from '../kit/folder.ts'
import { installSystem, missing } from '../real-systems/start.ts'

export const TOKEN = `lsk_${'upgrades'.repeat(6)}`

export type OneHost = { url: string; port: number; command: Command }

export type Deployment = {
  hosts: OneHost[]
  /** The balancer's address, and its kind. */
  url: string
  balancer: string
  stop(): Promise<void>
}

/** Starts a database, some hosts on it, and a balancer in front of them. */
export async function deploy(count: number): Promise<Deployment> {
  const home = newFolder('upgrades')
  const database = await openTestDatabase()
  const env = {
    DATABASE_URL: database.url,
    KEYWAY_SECRET: 'secret-of-all-hosts-'.repeat(3),
    KEYWAY_ADMIN_TOKEN: TOKEN,
    KEYWAY_INSTALL: 'any',
    KEYWAY_DROP_IN: 'off',
    // No spare workers: killed workers must be ones that have calls.
    KEYWAY_SPARE_WORKER: '0',
    PORT: '0',
  }
  const hosts = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      startHost({ ...env, KEYWAY_DATA_DIR: path.join(home, `host-${index}`) }),
    ),
  )
  const balancer = await balance(hosts.map(({ port }) => port))
  return {
    hosts,
    url: balancer.url,
    balancer: balancer.what,
    async stop() {
      await balancer.stop()
      for (const { command } of hosts) command.kill('SIGTERM')
      await Promise.all(hosts.map(({ command }) => command.ended))
      await database.drop()
      await rm(home, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

async function startHost(env: Record<string, string>): Promise<OneHost> {
  const command = begin(['start'], { env })
  const [, url = ''] = await command.prints(/"url":"([^"]+)"/)
  await until('the host is ready', async () => (await send(`${url}/readyz`, {})).status === 200)
  return { url, port: Number(new URL(url).port), command }
}

/** Uses Debian's HAProxy if it can be installed, otherwise a TCP balancer. */
async function balance(
  ports: number[],
): Promise<{ url: string; what: string; stop(): Promise<void> }> {
  const why = missing('apt-get')
  const installed = why === null ? await installSystem<object>('haproxy') : { why }
  if ('system' in installed) {
    const started = await installed.system.start({ BACKENDS: ports.join(' ') })
    return { url: started.baseUrl, what: 'HAProxy', stop: started.stop }
  }
  let turn = 0
  const server = createServer((caller) => {
    turn += 1
    const host = createConnection({ host: '127.0.0.1', port: ports[turn % ports.length] as number })
    const end = () => {
      caller.destroy()
      host.destroy()
    }
    for (const socket of [caller, host]) socket.on('error', end).on('close', end)
    caller.pipe(host)
    host.pipe(caller)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    what: `a balancer of connections (HAProxy ${installed.why})`,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** Process ids of a host's workers. */
export function workersOf({ command }: OneHost): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      const parent = Number(stat[1])
      children.set(parent, [...(children.get(parent) ?? []), Number(name)])
    } catch {
      // The process has ended in between.
    }
  }
  const below = (pid: number): number[] =>
    (children.get(pid) ?? []).flatMap((child) => [child, ...below(child)])
  return below(command.pid).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--permission')
    } catch {
      // The process has ended in between.
      return false
    }
  })
}
