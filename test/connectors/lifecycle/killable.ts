/** A host in a separate process, and a database that survives it, behind a proxy that can kill the host. */
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createConnection, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'vitest'
import { send } from '../../e2e/client.ts'
import { begin, type Command, newHome, stopCommands } from '../../e2e/command.ts'
import { until } from '../../e2e/until.ts'
import { openTestDatabase } from '../../kit/databases.ts'
import { urlOf } from '../../kit/own-server.ts'
import type { Made } from './packaging.ts'

const TOKEN = `lsk_${'killed'.repeat(7)}`

/** A word of a statement at which the host is killed, before or after the database executes it. */
export type Deadly = { word: string; when: 'before' | 'after' }

export type Killable = {
  start(): Promise<void>
  /** Kills the host; resolves when its process has ended. */
  kill(): Promise<void>
  killAt(deadly: Deadly): void
  /** Waits for the process to end, and returns how it ended. */
  ended(): Promise<{ signal: NodeJS.Signals | null } | undefined>
  operate(
    method: string,
    at: string,
    body?: object | Buffer,
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  ): Promise<{ status: number; body: any }>
  install(made: Made): Promise<void>
  /** The version that answers; null for none. */
  answering(): Promise<string | null>
  /** The newest generation, after checks: the history has no gap, and the active version serves. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  whole(): Promise<any>
  stop(): Promise<void>
}

export async function killable(): Promise<Killable> {
  const shared = mkdtempSync(path.join(tmpdir(), 'keyway-killed-'))
  const database = await openTestDatabase()
  const home = await newHome()
  let deadly: Deadly | null = null
  let host: { command: Command; url: string } | null = null
  const behind = path.join(database.login.host, '.s.PGSQL.5432')
  const front = createServer((caller) => {
    const upstream = createConnection(behind)
    const end = () => {
      caller.destroy()
      upstream.destroy()
    }
    for (const socket of [caller, upstream]) socket.on('error', end).on('close', end)
    caller.on('data', (chunk) => {
      const isDeadly = deadly !== null && chunk.includes(deadly.word)
      if (!isDeadly || deadly?.when === 'after') upstream.write(chunk)
      if (!isDeadly) return
      if (deadly?.when === 'before') host?.command.kill('SIGKILL')
      // The reply shows that the database has executed the statement.
      else upstream.once('data', () => host?.command.kill('SIGKILL'))
      deadly = null
    })
    upstream.on('data', (chunk) => caller.write(chunk))
  })
  await new Promise<void>((resolve) => front.listen(path.join(shared, '.s.PGSQL.5432'), resolve))

  async function operate(method: string, at: string, body?: object | Buffer) {
    const isPackage = Buffer.isBuffer(body)
    const { status, text } = await send(`${host?.url}/operator${at}`, {
      method,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(body ? { 'content-type': isPackage ? 'application/gzip' : 'application/json' } : {}),
      },
      ...(body ? { body: isPackage ? body : JSON.stringify(body) } : {}),
    })
    return { status, body: JSON.parse(text) }
  }

  async function servingVersion(): Promise<string | null> {
    const { headers, text } = await send(`${host?.url}/connectors/acme/validate_credentials`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ request: {}, auth: { token: { token: 'a-token' } }, settings: {} }),
    })
    return JSON.parse(text).is_error ? null : String(headers['x-keyway-connector'])
  }

  return {
    operate,
    answering: servingVersion,
    async start() {
      const command = begin(['start'], {
        env: {
          PORT: '0',
          DATABASE_URL: urlOf({ ...database.login, host: shared }),
          KEYWAY_DATA_DIR: path.join(home, 'data'),
          KEYWAY_ADMIN_TOKEN: TOKEN,
          KEYWAY_INSTALL: 'any',
          KEYWAY_DROP_IN: 'off',
        },
      })
      const [, url = ''] = await command.prints(/"url":"([^"]+)"/)
      const isReady = async () => (await send(`${url}/readyz`, {})).status === 200
      await until('the host is ready', isReady)
      host = { command, url }
    },
    async kill() {
      host?.command.kill('SIGKILL')
      await host?.command.ended
    },
    killAt(at) {
      deadly = at
    },
    ended: async () => host?.command.ended,
    async install({ packed, digest }) {
      // Without `wait_ms=0` the request would wait for the killed host, which may only be slow.
      const uploaded = await operate('POST', '/packages?wait_ms=0', packed)
      if (uploaded.status !== 201) throw new Error(JSON.stringify(uploaded.body))
      const to = '/connectors/acme/activate'
      const activated = await operate('POST', to, { digest, grant: 'all', wait_ms: 0 })
      if (activated.status !== 200) throw new Error(JSON.stringify(activated.body))
    },
    async whole() {
      const { body: newest } = await operate('GET', '/generations/newest')
      const { body: told } = await operate('GET', '/generations?limit=100')
      expect(told.items.map(({ generation }: { generation: number }) => generation)).toEqual(
        Array.from(
          { length: Math.min(100, newest.generation) },
          (_, index) => newest.generation - index,
        ),
      )
      const acme = newest.statement.connectors.acme
      const serves = acme?.versions.find(({ digest }: { digest: string }) => digest === acme.active)
      expect(await servingVersion()).toBe(serves ? `acme@${serves.version}` : null)
      return newest
    },
    async stop() {
      await stopCommands()
      front.close()
      await database.drop()
      await rm(shared, { recursive: true, force: true })
    },
  }
}
