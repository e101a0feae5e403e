/**
 * The cost of the bridges to directories and databases: the same small request by the library alone and
 * through egress, unencrypted on loopback.
 */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Client } from 'ldapts'
import mysql from 'mysql2/promise'
import pg from 'pg'
import type { EgressRequest } from '../../runtime/egress/call/call.ts'
import { createEgress } from '../../runtime/egress/fetch.ts'
import { parsePrivateGrants } from '../../runtime/egress/limits/grants.ts'
import { manifestOf } from '../egress/fixtures/open-egress.ts'
import { basicSecrets, ldap, noDirectory, startDirectory } from '../egress/ldap/directory.ts'
import { noDatabase, sql, startDatabase } from '../egress/sql/database.ts'
import { noMariadb, startMariadb } from '../egress/sql/mariadb.ts'
import { below, type Judged, judge, unmeasured } from './findings.ts'
import { loadWords, machineWords } from './machine.ts'
import { place, sectionText } from './report.ts'
import { middleTimes } from './side-by-side.ts'

const GOAL = below(0.5, 'ms')
const RESULTS = path.join(import.meta.dirname, 'RESULTS.md')

type User = { username: string; password: string }
type Pair = { alone(): Promise<unknown>; egress(): Promise<unknown>; stop(): Promise<void> }

/** A request through an egress of its own: a separate call for each, like a connector's call. */
function through(at: string, entry: object, user: User, request: EgressRequest, more = {}) {
  const grants = parsePrivateGrants(`acme=${at}`)
  const egress = createEgress({
    privateGrants: grants,
    plainLdap: grants,
    plainSql: grants,
    proxy: null,
    userAgent: 'keyway/bench',
    // The pace limit is not to be measured.
    ceilings: { maxRequestsPerSecond: 1_000_000 },
  })
  const manifest = manifestOf([entry], { limits: { requests_per_second: 1_000_000 }, ...more })
  const secrets = basicSecrets(user.username, user.password)
  const ask = () =>
    egress
      .open({
        connectorId: 'acme',
        tenant: 'bench',
        manifest,
        capability: 'list_accounts',
        level: 'read',
        settings: {},
        signal: new AbortController().signal,
        secrets,
      })
      .fetch(request)
  return { ask, close: () => egress.close() }
}

async function directory(): Promise<Pair> {
  const server = await startDirectory()
  const { url, baseDn, auth } = server
  const alone = new Client({ url })
  await alone.bind(auth.bindDn, auth.password)
  const entry = { base: `uid=user001,ou=people,${baseDn}`, attributes: ['uid', 'mail'] }
  const { ask, close } = through(
    new URL(url).host,
    { ldap: url, base: baseDn, bind: { credential: 'auth' } },
    { username: auth.bindDn, password: auth.password },
    ldap('SEARCH', { ...entry, scope: 'base' }),
  )
  return {
    alone: () => alone.search(entry.base, { ...entry, scope: 'base' }),
    egress: ask,
    async stop() {
      await Promise.all([alone.unbind(), close()])
      await server.stop()
    },
  }
}

const asked = (text: string) => ({ one: { text, parameters: ['string'], reads: true } })
const one = sql('QUERY', { statement: 'one', parameters: ['user001'] })

async function postgresql(): Promise<Pair> {
  const server = await startDatabase()
  const { host, port, database, auth } = server
  const text = 'select rolname, rolcanlogin from pg_roles where rolname = $1'
  const alone = new pg.Client({
    host,
    port,
    database,
    user: auth.username,
    password: auth.password,
    ssl: false,
  })
  await alone.connect()
  const at = `${host}:${port}`
  const login = { credential: 'auth' }
  const entry = { sql: `postgresql://${at}`, dialect: 'postgresql', database, login }
  const { ask, close } = through(at, entry, auth, one, { statements: asked(text) })
  return {
    alone: () => alone.query(text, ['user001']),
    egress: ask,
    async stop() {
      await Promise.all([alone.end(), close()])
      await server.stop()
    },
  }
}

async function mariadb(): Promise<Pair> {
  const server = await startMariadb()
  const { host, port, auth } = server
  const text = 'select User, Host from mysql.global_priv where User = '
  const { username: user, password } = auth
  const alone = await mysql.createConnection({ host, port, database: 'mysql', user, password })
  const at = `${host}:${port}`
  const login = { credential: 'auth' }
  const entry = { sql: `mariadb://${at}`, dialect: 'mysql', database: 'mysql', login }
  const { ask, close } = through(at, entry, auth, one, { statements: asked(`${text}$1`) })
  return {
    alone: () => alone.execute(`${text}?`, ['user001']),
    egress: ask,
    async stop() {
      await Promise.all([alone.end(), close()])
      await server.stop()
    },
  }
}

const BRIDGES = {
  'ctx.ldap, OpenLDAP': { absent: noDirectory, start: directory },
  'ctx.sql, PostgreSQL': { absent: noDatabase, start: postgresql },
  'ctx.sql, MariaDB': { absent: noMariadb, start: mariadb },
}

/**
 * Measures each bridge whose server is available here, and prints the results. A full run is written into
 * RESULTS.md.
 */
export async function measureBridges(rounds: number, isWhole: boolean): Promise<void> {
  const before = loadWords()
  const judged: Judged[] = []
  const rows: string[][] = []
  for (const [name, { absent, start }] of Object.entries(BRIDGES)) {
    const what = `${name}: added time of a request over the library alone`
    if (absent !== null) {
      judged.push(unmeasured(what, absent, GOAL))
      continue
    }
    const { alone, egress, stop } = await start()
    const times = await middleTimes({ alone, egress }, rounds)
    await stop()
    const over = times.egress - times.alone
    judged.push(judge(what, { median: over, min: over, max: over }, GOAL, 3, 'ms'))
    rows.push([name, ...[times.alone, times.egress].map((time) => `${time.toFixed(3)} ms`)])
  }
  const section = {
    part: 'bridges',
    title: 'Bridges to directories and databases',
    setting: `${rounds.toLocaleString('en')} requests for one entry or row each, one at a time, over plain text on loopback; medians. ${machineWords()}; load before: ${before}, after: ${loadWords()}. The servers share the machine.`,
    findings: {
      judged,
      tables: [{ title: 'Time of a request', columns: ['bridge', 'library', 'egress'], rows }],
      notes: [],
    },
  }
  console.log(`\n${sectionText(section)}`)
  if (isWhole) await writeFile(RESULTS, place(await readFile(RESULTS, 'utf8'), section))
}
