/** Starts a complete host with its own database, called without a socket, and creates objects in it. */
import { chmodSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ClientConfig } from 'pg'
import { readConfig } from '../../runtime/config/config.ts'
import type { TaskCategory, TaskStatus } from '../../runtime/contract/models/task.ts'
import type { Pace } from '../../runtime/core/kernel/context/pace.ts'
import { createTokenHasher } from '../../runtime/core/kernel/identity/token-hasher.ts'
import { createToken } from '../../runtime/core/kernel/identity/tokens.ts'
import type { Db } from '../../runtime/database/database.ts'
import { apps } from '../../runtime/database/schema/apps.ts'
import {
  domains,
  groupMembers,
  groups,
  userRoles,
  users,
} from '../../runtime/database/schema/people.ts'
import { taskAssignees, tasks } from '../../runtime/database/schema/tasks.ts'
import { prepareHome } from '../../runtime/database/server-home.ts'
import { createHost, type Host } from '../../runtime/main.ts'
import { createLog } from '../../runtime/observe/log.ts'
import { keptSecret } from '../../runtime/secrets/secret-files.ts'
import { forgetDatabase } from '../database/forget.ts'
import { judgeOfHost } from '../e2e/judge.ts'
import { newDatabase, type TestDatabase } from '../kit/databases.ts'
import { withDatabase, withVerdicts } from '../kit/template.ts'
import { keepVerdicts, withVerdictsOn } from '../kit/verdicts.ts'
import { builtWorker } from '../kit/worker.ts'

export const SECRET = 'core-tests-'.repeat(4)
export const ADMIN_TOKEN = `lsk_${'admin'.repeat(8)}`

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
export type Reply = { status: number; body: any; headers: Headers }

export type CoreHost = {
  host: Host
  db: Db
  /** How to connect as the role that owns the tables. */
  login(): Promise<ClientConfig>
  /** The same as a DATABASE_URL for another host. */
  url(): Promise<string>
  /** Sends a request; the token is the admin's unless another is given, null for none. */
  call(
    method: string,
    path: string,
    options?: {
      token?: string | null
      body?: unknown
      raw?: string | Uint8Array<ArrayBuffer>
      headers?: Record<string, string>
    },
  ): Promise<Reply>
  dataDir: string
  /** Log lines so far. */
  lines: string[]
  /** Stops the host and removes its data, unless `keep` keeps them for another start. */
  stop(options?: { keep?: boolean }): Promise<void>
}

/** Level and message of each log line whose member `name` has this value. */
export const logged = ({ lines }: CoreHost, name: string, value: string): string[] =>
  lines
    .map((line) => JSON.parse(line))
    .filter((line) => line[name] === value)
    .map(({ level, msg }) => `${LEVELS[level as keyof typeof LEVELS] ?? level}: ${msg}`)
const LEVELS = { 30: 'info', 40: 'warn', 50: 'error' } as const

export type CoreOptions = {
  /** The data directory of an earlier host, to start again from. */
  from?: string
  /** `own`: its own embedded server, for tests that kill it, read its files or count its connections. */
  server?: 'own'
  /** Whether the database of `env` never answers, so that the host is not awaited to have it. */
  isAway?: boolean
  /** Intervals of background work that differ from TEST_PACE. */
  pace?: Partial<Pace>
  /** An additional CA to trust for the mail server. */
  mailTrust?: { ca: string }
}

/**
 * Intervals in milliseconds, shorter than in a deployment, because tests of background work mostly wait for
 * it. Each look takes about forty queries; five looks a second would cost an idle host a tenth of a core.
 */
export const TEST_PACE = {
  lookMs: 500,
  renewMs: 500,
  consistencyMs: 500,
} as const satisfies Partial<Pace>

/** For test files that mostly wait for one look after another. */
export const QUICK_PACE = { lookMs: 150 } as const satisfies Partial<Pace>

/** Databases in the shared server of the test run, by the data directory of their host. */
const databases = new Map<string, TestDatabase>()

/** Creates the database of a new data directory; null if the host starts its own server. */
async function databaseOf(
  dataDir: string,
  server: 'own' | undefined,
): Promise<TestDatabase | null> {
  const made = server === 'own' ? null : await newDatabase()
  if (made) databases.set(dataDir, made)
  else await withDatabase(dataDir)
  return made
}

/** Starts a host, by default with its own database in the shared server of the test run. */
export async function startCore(
  env: Record<string, string> = {},
  { from, server, isAway = false, pace, mailTrust }: CoreOptions = {},
): Promise<CoreHost> {
  const dataDir = from ?? mkdtempSync(path.join(tmpdir(), 'keyway-core-'))
  if (from === undefined) chmodSync(dataDir, 0o711)
  if (from === undefined) withVerdicts(dataDir)
  const plugins = env['KEYWAY_PLUGINS_DIR']
  if (from === undefined && plugins !== undefined) await withVerdictsOn(plugins, dataDir)
  const isGiven = env['DATABASE_URL'] !== undefined
  const database =
    from === undefined && !isGiven
      ? await databaseOf(dataDir, server)
      : (databases.get(dataDir) ?? null)
  const lines: string[] = []
  const config = readConfig({
    KEYWAY_DATA_DIR: dataDir,
    KEYWAY_DROP_IN: 'off',
    KEYWAY_SECRET: SECRET,
    KEYWAY_ADMIN_TOKEN: ADMIN_TOKEN,
    // As with the embedded database, which tests of installing expect.
    ...(database === null ? {} : { DATABASE_URL: database.url, KEYWAY_INSTALL: 'any' }),
    ...env,
  })
  const write = (line: string) => void lines.push(line)
  const worker = builtWorker()
  const parts = {
    pace: { ...TEST_PACE, ...pace },
    ...(worker ? { worker } : {}),
    ...(mailTrust ? { mailTrust } : {}),
  }
  const host = await createHost(config, createLog('trace', { write }), {}, parts)
  if (!isAway) await host.databaseReady
  const db = host.db() as Db
  const judge = await judgeOfHost(config, async () =>
    (await host.app.request('/openapi.json', { headers: { host: 'localhost' } })).text(),
  )
  async function login(): Promise<ClientConfig> {
    if (database) return database.login
    const { socket } = await prepareHome(dataDir)
    const password = (await keptSecret(dataDir, 'database-password')).value
    return { host: socket, user: 'keyway', database: 'keyway', password }
  }
  return {
    host,
    db,
    dataDir,
    lines,
    login,
    async url() {
      if (database) return database.url
      const { host: socket, password } = await login()
      return `postgres://keyway:${password}@/keyway?host=${socket}`
    },
    async call(method, target, { token = ADMIN_TOKEN, body, raw, headers = {} } = {}) {
      const reply = await host.app.request(target, {
        method,
        headers: {
          host: 'localhost',
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined && raw === undefined
            ? {}
            : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined
          ? raw === undefined
            ? {}
            : { body: raw }
          : { body: JSON.stringify(body) }),
      })
      const text = await reply.text()
      const isPlain = /^(text\/plain|text\/csv|application\/x-ndjson)\b/.test(
        reply.headers.get('content-type') ?? '',
      )
      const [bare = ''] = target.split('?')
      // The document does not describe unknown paths and wrong methods.
      if (text !== '' && !isPlain && ![405].includes(reply.status) && bare !== '/nothing')
        judge(method, bare, reply.status, text)
      return {
        status: reply.status,
        body: text === '' ? null : isPlain ? text : JSON.parse(text),
        headers: reply.headers,
      }
    },
    async stop({ keep = false } = {}) {
      await host.stop()
      if (keep) return
      if (plugins !== undefined) await keepVerdicts(dataDir)
      databases.delete(dataDir)
      if (database) await database.drop()
      else await forgetDatabase(dataDir)
      // A connector that is still being compiled may write a file during the removal, so retry.
      await rm(dataDir, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

export type Person = { id: string; token: string; readOnlyToken: string }

/** A user with roles and two tokens. */
export async function person(
  db: Db,
  email: string,
  roles: string[] = [],
  domain?: string,
): Promise<Person> {
  const domainId = domain ?? (await domainOf(db))
  const [given = ''] = email.split('@')
  const [row] = await db
    .insert(users)
    .values({ domainId, email, givenName: given, familyName: 'Test' })
    .returning()
  const id = row?.id ?? ''
  for (const role of roles) await db.insert(userRoles).values({ domainId, userId: id, role })
  const hasher = createTokenHasher([SECRET])
  const token = { userId: id, domainId, name: 'test', description: '', expiresAt: null }
  const { token: text } = await createToken(db, hasher, { ...token, readOnly: false })
  const { token: readOnlyToken } = await createToken(db, hasher, { ...token, readOnly: true })
  return { id, token: text, readOnlyToken }
}

/** The domain of the deployment. */
export async function domainOf(db: Db): Promise<string> {
  const [row] = await db.select().from(domains).orderBy(domains.createdAt).limit(1)
  return row?.id ?? ''
}

export async function otherDomain(db: Db): Promise<string> {
  const [row] = await db.insert(domains).values({ name: 'other' }).returning()
  return row?.id ?? ''
}

export async function group(db: Db, name: string, members: Person[]): Promise<string> {
  const domainId = await domainOf(db)
  const [row] = await db.insert(groups).values({ domainId, name }).returning()
  const groupId = row?.id ?? ''
  for (const { id } of members)
    await db.insert(groupMembers).values({ domainId, groupId, userId: id })
  return groupId
}

/** An app that exists only as a record. */
export async function app(
  db: Db,
  name: string,
  more: Partial<typeof apps.$inferInsert> = {},
): Promise<string> {
  const domainId = await domainOf(db)
  const appClassId = name.toLowerCase()
  const [row] = await db
    .insert(apps)
    .values({ domainId, appClassId, instanceId: 'custom_app_import', name, ...more })
    .returning()
  return row?.id ?? ''
}

type NewTask = {
  category?: TaskCategory
  status?: TaskStatus
  type?: string
  userIds?: string[]
  groupIds?: string[]
  appId?: string
  domain?: string
}

export async function task(
  db: Db,
  {
    category = 'APPROVAL',
    status = 'PENDING',
    type = 'ACCESS',
    userIds = [],
    groupIds = [],
    appId,
    domain,
  }: NewTask,
): Promise<string> {
  const domainId = domain ?? (await domainOf(db))
  const [row] = await db
    .insert(tasks)
    .values({
      domainId,
      taskType: type,
      taskCategory: category,
      status,
      description: `${type} of ${category}`,
      appId: appId ?? null,
    })
    .returning()
  const taskId = row?.id ?? ''
  for (const userId of userIds) await db.insert(taskAssignees).values({ domainId, taskId, userId })
  for (const groupId of groupIds)
    await db.insert(taskAssignees).values({ domainId, taskId, groupId })
  return taskId
}
