/** Stored credentials of connected apps, tokens and sessions: no leaks, and rotation of the secret. */

import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { probeOf, setProbe } from '../../runtime/connectors/lifecycle/probes.ts'
import {
  callApp,
  keepConnection,
  openConnection,
} from '../../runtime/core/catalogue/apps/connections.ts'
import type { RequestContext } from '../../runtime/core/kernel/context/context.ts'
import { timingOf } from '../../runtime/core/kernel/context/pace.ts'
import { agreeOnSecret } from '../../runtime/core/kernel/deployment/deployment.ts'
import { createTokenHasher } from '../../runtime/core/kernel/identity/token-hasher.ts'
import { findSession, signInByToken } from '../../runtime/core/sign-in/sessions.ts'
import { LISTENERS } from '../../runtime/core/wiring/listeners.ts'
import { apps } from '../../runtime/database/schema/apps.ts'
import { deploymentSecret } from '../../runtime/database/schema/deployment.ts'
import { nodes } from '../../runtime/database/schema/lifecycle.ts'
import { apiTokens } from '../../runtime/database/schema/people.ts'
import { statusOfRefusal } from '../../runtime/http/edge/statuses.ts'
import { createCall } from '../../runtime/invoke/call.ts'
import { resealAll } from '../../runtime/rotation/rotate-secrets.ts'
import { keyId } from '../../runtime/secrets/key-derivation.ts'
import { createSealer, sealedWith } from '../../runtime/secrets/seal.ts'
import { createSigner } from '../../runtime/secrets/signing-key.ts'
import { type Directory, startDirectory } from '../core/directory.ts'
import type { CoreOptions } from '../core/host.ts'
import {
  app,
  type CoreHost,
  domainOf,
  type Person,
  person,
  SECRET,
  startCore,
} from '../core/host.ts'
import { shows } from '../symptoms.ts'

const NEW_SECRET = 'the-newest-secret-'.repeat(3)
const TOKEN = 'sample-token'

let directory: Directory
let core: CoreHost
let id: string

beforeAll(async () => {
  directory = await startDirectory()
  core = await start(SECRET)
  id = (await core.call('POST', '/apps', { body: directory.app })).body.id
})
afterAll(async () => {
  await core.stop()
  await directory.close()
})

async function start(secrets: string, options?: CoreOptions): Promise<CoreHost> {
  const env = { KEYWAY_PRIVATE_EGRESS: `scim=${directory.host}`, KEYWAY_SECRET: secrets }
  const started = await startCore(env, options)
  await started.host.settled
  return started
}

async function restart(secrets: string): Promise<void> {
  await core.stop({ keep: true })
  core = await start(secrets, { from: core.dataDir })
}

const rowOf = async (appId: string) => {
  const [row] = await core.db.select().from(apps).where(eq(apps.id, appId))
  return row as typeof apps.$inferSelect
}

/** A call of the connector with the stored connection. */
const call = async (secrets: string[]) => {
  const { find, ids } = core.host.registry
  const parts: RequestContext = {
    connectors: { find, ids, call: createCall(core.host.invoke, () => {}) },
    vault: createSealer(secrets, 'connection'),
    signer: createSigner(secrets),
    hasher: createTokenHasher(secrets),
    send: async () => {},
    deliver: { refuse: () => 'nothing is delivered here', post: () => Promise.reject(new Error()) },
    tell: () => {},
    now: async () => new Date(),
    listeners: LISTENERS,
    pace: timingOf(),
    statusOfRefusal,
    requestId: 'r',
    cause: { kind: 'request', id: 'r' },
    signal: new AbortController().signal,
  }
  return callApp(parts, await rowOf(id), 'list_accounts', {
    request: {},
    page: { token: null, size: 5 },
  })
}

/** All rows of the database as JSON, with bytes as hexadecimal digits. */
async function dump(): Promise<string> {
  const { rows: tables } = await core.db.execute<{ table_name: string }>(
    sql`select table_name from information_schema.tables where table_schema = 'public'`,
  )
  expect(tables.length).toBeGreaterThan(10)
  const all: string[] = []
  for (const { table_name: name } of tables) {
    const { rows } = await core.db.execute(
      sql`select row_to_json(t)::text as json from ${sql.identifier(name)} t`,
    )
    all.push(JSON.stringify(rows))
  }
  return all.join('\n')
}

test('a stored connection is used for a call', async () => {
  const answer = await call([SECRET])
  expect(answer).toMatchObject({ ok: true, response: { length: 5 } })
})

test('the token is in no table, no log line and no answer', async () => {
  await core.call('PUT', `/apps/${id}`, { body: directory.app })
  const wrong = { ...directory.app, auth: { token: 'a-wrong-token' } }
  const refused = await core.call('PUT', `/apps/${id}`, { body: wrong })
  // The sample directory names its own token in its message, and this answer quotes the message.
  expect(JSON.stringify(refused)).not.toContain('a-wrong-token')
  const answers = [await core.call('GET', `/apps/${id}`), await core.call('GET', '/apps')]
  const log = await core.call('GET', '/activity_logs?limit=100')
  const everywhere = [JSON.stringify([answers, log]), core.lines.join('\n'), await dump()]
  expect(everywhere[2]).toContain('SCIM 2.0')
  expect(core.lines.length).toBeGreaterThan(3)
  for (const text of everywhere)
    for (const token of [TOKEN, 'a-wrong-token']) {
      expect(text).not.toContain(token)
      expect(text).not.toContain(Buffer.from(token).toString('hex'))
      expect(text).not.toContain(Buffer.from(token).toString('base64'))
    }
})

describe('a sealed connection', () => {
  const opened = async (of: string, change: (sealed: Buffer) => Buffer) => {
    const { sealedConnection, domainId } = await rowOf(id)
    const row = { id: of, domainId, sealedConnection: change(sealedConnection as Buffer) }
    return openConnection(createSealer([SECRET], 'connection'), row)
  }
  const altered = expect.objectContaining({
    kind: 'conflict',
    message: expect.stringContaining('altered'),
  })

  test('opens for its own app only', async () => {
    const other = await app(core.db, 'Other', { instanceId: String(Math.random()) })
    await opened(id, (sealed) => sealed)
    await expect(opened(other, (sealed) => sealed)).rejects.toThrow(altered)
  })

  test.each<[string, (sealed: Buffer) => Buffer]>([
    ['that was altered', (sealed) => Buffer.concat([sealed.subarray(0, -1), Buffer.of(0)])],
    ['that was truncated', (sealed) => sealed.subarray(0, 10)],
    ['that is empty', () => Buffer.alloc(0)],
  ])('%s does not open', async (_, change) => {
    await expect(opened(id, change)).rejects.toThrow(altered)
  })

  test('of another domain does not open', () => {
    const vault = createSealer([SECRET], 'connection')
    const sealed = keepConnection(vault, { id: 'a', domainId: 'one' }, { settings: {} })
    const row = { id: 'a', domainId: 'two', sealedConnection: sealed }
    expect(() => openConnection(vault, row)).toThrow(/altered/)
  })
})

describe('rotating the secret', () => {
  const sealedBy = async () => sealedWith((await rowOf(id)).sealedConnection as Buffer)
  const linesWith = (words: string) => core.lines.filter((line) => line.includes(words))

  async function until(done: () => Promise<boolean> | boolean): Promise<void> {
    for (let tries = 0; tries < 100; tries += 1) {
      if (await done()) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error('the condition was not met within five seconds')
  }

  test('reseals what an older secret sealed, after which the older secret can be removed', async () => {
    expect(await sealedBy()).toBe(keyId(SECRET))
    await restart(`${NEW_SECRET},${SECRET}`)
    await until(async () => (await sealedBy()) === keyId(NEW_SECRET))
    await until(() => linesWith('were sealed with the newest secret').length === 1)
    await restart(NEW_SECRET)
    expect(await call([NEW_SECRET])).toMatchObject({ ok: true })
    expect(linesWith('sealed')).toEqual([])
  })

  test('with the old secret removed too early is reported at start and in refusals', async () => {
    // An operator who has lost the old secret does this: otherwise the host would not become ready.
    await core.db.delete(deploymentSecret)
    await restart(SECRET)
    await until(() => linesWith(keyId(NEW_SECRET)).length === 1)
    expect(linesWith(keyId(NEW_SECRET))[0]).toContain('put those secrets back')
    const { settings } = directory.app
    const body = { app_class_id: 'scim', settings }
    const put = await core.call('PUT', `/apps/${id}`, { body })
    expect([put.status, put.body.detail]).toEqual([409, expect.stringContaining('KEYWAY_SECRET')])
    expect(await sealedBy()).toBe(keyId(NEW_SECRET))
    expect((await core.call('PUT', `/apps/${id}`, { body: directory.app })).status).toBe(200)
    expect(await sealedBy()).toBe(keyId(SECRET))
  })

  test('covers all of many apps, also with two hosts at the same time', async () => {
    const { domainId } = await rowOf(id)
    const old = createSealer([NEW_SECRET], 'connection')
    for (let i = 0; i < 45; i += 1) {
      const one = await app(core.db, `Many ${i}`)
      const sealed = keepConnection(old, { id: one, domainId }, { settings: { i } })
      await core.db.update(apps).set({ sealedConnection: sealed }).where(eq(apps.id, one))
    }
    const vault = createSealer([SECRET, NEW_SECRET], 'connection')
    const { signal } = new AbortController()
    const warnings: string[] = []
    const tell = { signal, info: () => {}, warn: (_: object, text: string) => warnings.push(text) }
    await Promise.all([resealAll(core.db, vault, tell), resealAll(core.db, vault, tell)])
    expect(warnings).toEqual([])
    const only = createSealer([SECRET], 'connection')
    const rows = await core.db.select().from(apps)
    const sealed = rows.filter(({ sealedConnection }) => sealedConnection !== null)
    expect(sealed).toHaveLength(46)
    for (const row of sealed) expect(openConnection(only, row)).toHaveProperty('settings')
  })

  test('covers the credentials of probes, too; those that cannot be opened are reported', async () => {
    const { domainId } = await rowOf(id)
    const probe = { auth: { token: 'probing' } }
    const sealer = (...secrets: string[]) => createSealer(secrets, 'connection')
    const opened = (vault: ReturnType<typeof sealer>) => probeOf(core.db, vault, domainId, 'acme')
    await setProbe(core.db, sealer(NEW_SECRET), domainId, 'acme', probe)
    await expect(opened(sealer(SECRET))).rejects.toMatchObject({
      code: 'state_conflict',
      message: expect.stringContaining('keyway probe acme --as FILE'),
    })
    const { signal } = new AbortController()
    const tell = { signal, info: () => {}, warn: () => {} }
    await resealAll(core.db, sealer(SECRET, NEW_SECRET), tell)
    expect(await opened(sealer(SECRET))).toEqual(probe)
  })
})

describe('tokens and sessions during a rotation', () => {
  const NEXT = 'the-secret-after-'.repeat(3)
  const both = createTokenHasher([NEXT, SECRET])
  const rotation = async () => (await core.call('GET', '/operator/rotation')).body
  const statusOfRefusal = async (token: string) =>
    (await core.call('GET', '/users/current', { token })).status
  const keyIdsOf = async ({ id: userId }: Person) =>
    (await core.db.select().from(apiTokens).where(eq(apiTokens.userId, userId))).map(
      ({ keyId: of }) => of,
    )
  let ada: Person
  let session: string | null

  test('wait for a host that does not have the newest secret', async () => {
    ada = await person(core.db, 'ada@example.com', ['administrator'])
    session = await signInByToken(core.db, createTokenHasher([SECRET]), ada.token)
    await restart(`${NEXT},${SECRET}`)
    const behind = '7f0c1a52-8a4e-4a39-9b53-0d7c5a3a6a10'
    const other = { id: behind, domainId: await domainOf(core.db), generation: 0, problems: [] }
    await core.db.insert(nodes).values({ ...other, keyIds: [keyId(SECRET)] })
    expect(await statusOfRefusal(ada.token)).toBe(200)
    expect(await keyIdsOf(ada)).toEqual([keyId(SECRET), keyId(SECRET)])
    expect(await rotation()).toMatchObject({
      newest: keyId(NEXT),
      hosts_behind: [{ node: behind, knows_newest: false }],
      safe_to_drop: false,
    })
    await core.db.delete(nodes).where(eq(nodes.id, behind))
  })

  test('are stored under the newest secret once they are used', async () => {
    expect((await rotation()).needed).toMatchObject({ api_tokens: 2, sessions: 1 })
    expect(await statusOfRefusal(ada.token)).toBe(200)
    expect(await findSession(core.db, both, session ?? '')).not.toBeNull()
    expect(await rotation()).toMatchObject({
      older: [keyId(SECRET)],
      needed: { api_tokens: 1, sessions: 0, apps: expect.any(Number) },
      tokens: [{ name: 'test', user: 'ada@example.com', last_used_at: null }],
      safe_to_drop: false,
    })
  })

  test('are not moved back by a host that lists the older secret first', async () => {
    expect(await agreeOnSecret(core.db, [SECRET, NEXT])).toBe(false)
    const older = createTokenHasher([SECRET, NEXT])
    expect(await findSession(core.db, older, session ?? '')).not.toBeNull()
    expect(await findSession(core.db, createTokenHasher([NEXT]), session ?? '')).not.toBeNull()
    expect((await rotation()).newest).toBe(keyId(NEXT))
  })

  test('are refused and logged if the old secret is dropped too early, and count as needed when it is back', async () => {
    await restart(NEXT)
    expect(await statusOfRefusal(ada.token)).toBe(200)
    expect(await statusOfRefusal(ada.readOnlyToken)).toBe(401)
    for (let tries = 0; tries < 100 && !core.lines.join('').includes('were hashed'); tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 50))
    shows('API tokens answer 401', core.lines)
    await restart(`${NEXT},${SECRET}`)
    expect((await rotation()).needed).toMatchObject({ api_tokens: 1 })
  })

  test('are revoked if they are unused, after which the old secret is safe to drop', async () => {
    const end = (dry_run: boolean) =>
      core.call('POST', '/operator/rotation/end-tokens', { body: { dry_run } })
    expect((await end(true)).body).toEqual({ ended: 1 })
    expect((await end(false)).body).toEqual({ ended: 1 })
    expect(await statusOfRefusal(ada.readOnlyToken)).toBe(401)
    for (let tries = 0; tries < 200; tries += 1) {
      const { needed } = await rotation()
      if (Object.values(needed).every((count) => count === 0)) break
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    // Page tokens of the old secret stay valid for a day after the newest secret was added.
    expect(await rotation()).toMatchObject({
      page_tokens_until: expect.any(String),
      hosts_behind: [],
      safe_to_drop: false,
    })
    expect(core.lines.filter((line) => line.includes('safe to drop'))).toEqual([])
    await core.db.execute(sql`update deployment_secret set since = since - interval '25 hours'`)
    expect(await rotation()).toMatchObject({ page_tokens_until: null, safe_to_drop: true })
    for (let tries = 0; tries < 300; tries += 1) {
      if (core.lines.some((line) => line.includes('safe to drop'))) break
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect(core.lines.filter((line) => line.includes('safe to drop'))).toHaveLength(1)
  })

  test('keep working after the old secret is removed', async () => {
    await restart(NEXT)
    expect(await statusOfRefusal(ada.token)).toBe(200)
    expect(await findSession(core.db, createTokenHasher([NEXT]), session ?? '')).not.toBeNull()
  })
})
