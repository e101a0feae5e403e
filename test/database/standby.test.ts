/**
 * Runs an operator's primary with a standby (Debian's `postgresql`). Hosts connect to an address that
 * forwards to the primary. The primary is killed, the standby promoted, the address moved. Skipped without
 * initdb and pg_basebackup.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isContended } from '../../runtime/database/contention.ts'
import { isDatabaseUnavailable } from '../../runtime/database/unavailable.ts'
import { type CoreHost, startCore } from '../core/host.ts'
import { until } from '../e2e/until.ts'
import { freePort } from '../free-port.ts'
import { killDatabase } from './kill.ts'

const run = promisify(execFile)
const PROGRAMS = '/usr/lib/postgresql'
const bin = existsSync(PROGRAMS)
  ? readdirSync(PROGRAMS)
      .map((version) => path.join(PROGRAMS, version, 'bin'))
      .findLast((folder) => existsSync(path.join(folder, 'pg_basebackup')))
  : undefined
/** PostgreSQL refuses to run as root. */
const NOBODY = 65_534
const who = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

let home: string
const children: ChildProcess[] = []

const tool = (name: string, ...args: string[]) =>
  run(path.join(bin ?? '', name), args, { cwd: home, ...who })

const queryAt = async (port: number, question: string): Promise<Record<string, unknown>[]> => {
  const client = new Client({ host: '127.0.0.1', port, user: 'keyway', database: 'keyway' })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(question)).rows
  } finally {
    await client.end()
  }
}

type OneServer = { port: number; cluster: string; pid: number | null }

async function startServer(cluster: string, settings: string[] = []): Promise<OneServer> {
  const port = await freePort()
  const all = [`port=${port}`, `unix_socket_directories=${home}`, ...settings]
  const child = spawn(
    path.join(bin ?? '', 'postgres'),
    ['-D', cluster, ...all.flatMap((one) => ['-c', one])],
    { cwd: home, stdio: 'ignore', ...who },
  )
  children.push(child)
  await until('the server answers', () => queryAt(port, 'select 1').catch(nullIfUnavailable))
  return { port, cluster, pid: child.pid ?? null }
}

const nullIfUnavailable = (error: Error & { code?: string }): null => {
  if (['ECONNREFUSED', '57P03', '3D000'].includes(error.code ?? '')) return null
  throw error
}

/** The address that hosts connect to. It forwards to one server at a time, as a virtual address does. */
async function startAddress(): Promise<{
  port: number
  server: Server
  leadTo(port: number): void
}> {
  let to = 0
  const open = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1')
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    server,
    leadTo(port) {
      to = port
      for (const one of open) one.destroy()
    },
  }
}

describe.skipIf(bin === undefined)('with a standby', () => {
  let primary: OneServer
  let standby: OneServer
  let address: Awaited<ReturnType<typeof startAddress>>
  let core: CoreHost

  beforeAll(async () => {
    home = mkdtempSync(path.join(tmpdir(), 'keyway-standby-'))
    chmodSync(home, 0o755)
    if (who.uid) chownSync(home, NOBODY, NOBODY)
    const cluster = path.join(home, 'primary')
    await tool('initdb', '-D', cluster, '-U', 'keyway', '-A', 'trust', '-E', 'UTF8', '--locale=C')
    const single = spawn(
      path.join(bin ?? '', 'postgres'),
      ['--single', '-D', cluster, 'postgres'],
      {
        cwd: home,
        stdio: ['pipe', 'ignore', 'ignore'],
        ...who,
      },
    )
    single.stdin?.end('create database keyway\n')
    await new Promise((resolve) => single.once('exit', resolve))
    primary = await startServer(cluster)
    const copy = path.join(home, 'standby')
    const from = `host=127.0.0.1 port=${primary.port} user=keyway`
    await tool('pg_basebackup', '-D', copy, '-d', from, '-R', '-X', 'stream', '-c', 'fast')
    standby = await startServer(copy)
    // With synchronous replication every acknowledged write is on the standby as well.
    await queryAt(primary.port, `alter system set synchronous_standby_names = '*'`)
    await queryAt(primary.port, 'select pg_reload_conf()')
    await until('the standby replicates synchronously', async () => {
      const rows = await queryAt(primary.port, 'select sync_state from pg_stat_replication')
      return rows[0]?.['sync_state'] === 'sync'
    })
    address = await startAddress()
    address.leadTo(primary.port)
    core = await startCore({
      DATABASE_URL: `postgres://keyway@127.0.0.1:${address.port}/keyway`,
      KEYWAY_REQUESTS_PER_MINUTE: '100000',
    })
  })
  afterAll(async () => {
    address?.leadTo(standby.port)
    await core?.stop()
    await new Promise((resolve) => address?.server.close(resolve))
    for (const child of children) child.kill('SIGKILL')
    await rm(home, { recursive: true, force: true, maxRetries: 10 })
  })

  const status = async () =>
    (await core.host.app.request('/readyz', { headers: { host: 'localhost' } })).status

  test('errors of the standby before its promotion count as an unavailable database or as contention', async () => {
    for (const statement of [
      `insert into domains (name) values ('x')`,
      'select * from domains for update',
      'lock table domains in share mode',
      'create table nothing ()',
      'listen anything',
      `notify anything, 'x'`,
      'select pg_current_xact_id()',
      'select pg_current_wal_lsn()',
      'vacuum domains',
    ]) {
      const error = await queryAt(standby.port, statement).catch((thrown: Error) => thrown)
      expect({ statement, error: String(error), away: isDatabaseUnavailable(error) }).toMatchObject(
        { away: true },
      )
    }
    // A query on the standby may conflict with replication: the standby cancels it, and the primary does not
    // know of it.
    await queryAt(standby.port, 'alter system set max_standby_streaming_delay = 0')
    await queryAt(standby.port, 'select pg_reload_conf()')
    await queryAt(primary.port, 'create table in_the_way as select generate_series(1, 1000) as n')
    const reading = new Client({ port: standby.port, host: '127.0.0.1', user: 'keyway' })
    // pg reports the end of the session at once if a query is running, else at the next query.
    const faults: Error[] = []
    reading.on('error', (fault) => faults.push(fault))
    await reading.connect()
    await until('the standby has the table', () =>
      reading.query('select from in_the_way').catch(() => null),
    )
    await reading.query('begin isolation level repeatable read')
    await reading.query('select * from in_the_way')
    await queryAt(primary.port, 'drop table in_the_way')
    await until('the query is cancelled', async () => {
      await reading.query('select 1').catch((fault: Error) => faults.push(fault))
      return faults.length > 0
    })
    expect(String(faults)).toContain('conflict with recovery')
    expect(faults.filter((fault) => !isContended(fault) && !isDatabaseUnavailable(fault))).toEqual(
      [],
    )
    await reading.end().catch(() => {})
  })

  test('a host continues by itself after the promotion of the standby, and no acknowledged write is lost', async () => {
    const made: string[] = []
    let count = 0
    const over = new AbortController()
    const make = async () => {
      while (!over.signal.aborted) {
        count += 1
        const name = `App ${count}`
        const reply = await core.call('POST', '/apps', {
          body: { name, category: 'Other', description: name },
        })
        if (reply.status < 300) made.push(name)
        else {
          expect(reply.status).toBe(503)
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
    }
    const writing = Promise.all([make(), make(), make()])
    await until('apps are created', () => made.length > 30)

    killDatabase(primary.pid)
    await until('the host is not ready', async () => (await status()) === 503)
    // The address may move before the standby accepts writes.
    address.leadTo(standby.port)
    const before = made.length
    await tool('pg_ctl', 'promote', '-D', standby.cluster)
    await until('apps are created again', () => made.length > before + 30)
    await until('the host is ready', async () => (await status()) === 200)
    over.abort()
    await writing

    const rows = await queryAt(standby.port, 'select name from apps')
    const kept = new Set(rows.map(({ name }) => name))
    expect(made.filter((name) => !kept.has(name))).toEqual([])
  })
})
