/** The operator's token is shared by all hosts: it is changed, revoked and given its role once for all. */
import { and, eq, isNull } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiTokens } from '../../../runtime/database/schema/people.ts'
import { signedIn, visit } from '../../http/settings/visitor.ts'
import { shows } from '../../symptoms.ts'
import { ADMIN_TOKEN, type CoreHost, type Person, person, startCore } from '../host.ts'

const NEXT = `lsk_${'next'.repeat(10)}`
const THIRD = `lsk_${'third'.repeat(8)}`

let core: CoreHost
let boss: Person

beforeAll(async () => {
  core = await startCore()
  boss = await person(core.db, 'boss@example.com', ['Admin'])
})
afterAll(() => core.stop())

/** Stops the host and starts it again on the same data, with another environment. */
async function restart(env: Record<string, string>): Promise<void> {
  await core.stop({ keep: true })
  core = await startCore(env, { from: core.dataDir })
}

/** Statuses of a token for the core interface, for /operator and for the creation of login links. */
async function opens(token: string): Promise<number[]> {
  const link = { token, body: { email: 'boss@example.com' } }
  const answers = [
    await core.call('GET', '/users/current', { token }),
    await core.call('GET', '/operator/connectors', { token }),
    await core.call('POST', '/operator/login-links', link),
  ]
  return answers.map(({ status }) => status)
}

async function events(): Promise<{ type: string; actor: string; metadata: object }[]> {
  const { body } = await core.call('GET', '/activity_logs?limit=100', { token: boss.token })
  return body.items.map(
    (one: { event_type: string; actor: { actor_type: string }; event_metadata: object }) => ({
      type: one.event_type,
      actor: one.actor.actor_type,
      metadata: one.event_metadata,
    }),
  )
}

const isIn = async (visitor: ReturnType<typeof visit>) =>
  (await visitor.get('/settings/api-tokens')).status === 200

async function linkCode(token: string): Promise<string> {
  const { body } = await core.call('POST', '/operator/login-links', {
    token,
    body: { email: 'boss@example.com' },
  })
  return body.path.split('#code=')[1]
}

async function signInWith(code: string) {
  const visitor = visit(core)
  await visitor.get('/settings/sign-in')
  await visitor.post('/settings/sign-in', { code })
  return visitor
}

describe('the first start', () => {
  test('gives the first admin the role and the token, and logs both', async () => {
    expect(await opens(ADMIN_TOKEN)).toEqual([200, 200, 201])
    expect((await events()).slice(0, 2)).toEqual([
      { type: 'USER_ROLE_ADDED', actor: 'Lumos system', metadata: { role: 'Admin' } },
      {
        type: 'API_TOKEN_CREATED',
        actor: 'Lumos system',
        metadata: { operator: true, read_only: false, expires_at: null },
      },
    ])
  })

  test('is the only start that does so: a restart does not restore a removed role', async () => {
    const { body: admin } = await core.call('GET', '/users/current')
    const taken = await core.call('DELETE', `/users/${admin.id}/roles/Admin`, {
      token: boss.token,
    })
    expect(taken.status).toBe(204)
    const before = await events()
    await restart({})
    const { body: roles } = await core.call('GET', `/users/${admin.id}/roles`)
    expect(roles).toEqual([{ name: 'User' }])
    expect(await events()).toEqual(before)
    // The operator's token still works on /operator, to repair its user.
    expect((await core.call('GET', '/operator/connectors')).status).toBe(200)
    await core.call('POST', `/users/${admin.id}/roles/Admin`, { token: boss.token })
  })
})

describe('a changed KEYWAY_ADMIN_TOKEN', () => {
  test('revokes the previous token with its sessions, its login links and their sessions', async () => {
    const session = await signedIn(core)
    const used = await signInWith(await linkCode(ADMIN_TOKEN))
    const unused = await linkCode(ADMIN_TOKEN)
    expect([await isIn(session), await isIn(used)]).toEqual([true, true])
    const [cookie, other] = [session, used].map(({ cookies }) => cookies)
    await restart({ KEYWAY_ADMIN_TOKEN: NEXT })
    expect(await opens(ADMIN_TOKEN)).toEqual([401, 401, 401])
    expect(await opens(NEXT)).toEqual([200, 200, 201])
    for (const cookies of [cookie, other]) {
      const again = visit(core)
      for (const [name, value] of cookies ?? []) again.cookies.set(name, value)
      expect(await isIn(again)).toBe(false)
    }
    expect(await isIn(await signInWith(unused))).toBe(false)
    expect((await events()).slice(-4).map(({ type }) => type)).toContain('API_TOKEN_REVOKED')
  })

  test('is not undone by a host with the old token, which logs what to do', async () => {
    await restart({ KEYWAY_ADMIN_TOKEN: ADMIN_TOKEN })
    expect(await opens(ADMIN_TOKEN)).toEqual([401, 401, 401])
    expect(await opens(NEXT)).toEqual([200, 200, 201])
    expect(core.lines.join('')).toMatch(/operator’s token .* KEYWAY_ADMIN_TOKEN/)
    expect(core.lines.join('')).not.toContain(ADMIN_TOKEN)
  })

  test('revokes the token of a host that is still running, which logs what to do', async () => {
    await restart({ KEYWAY_ADMIN_TOKEN: NEXT })
    const DATABASE_URL = await core.url()
    const newer = await startCore({ DATABASE_URL, KEYWAY_ADMIN_TOKEN: THIRD })
    expect(await opens(NEXT)).toEqual([401, 401, 401])
    expect(await opens(THIRD)).toEqual([200, 200, 201])
    await expect.poll(() => core.lines.join('')).toMatch(/operator’s token .* KEYWAY_ADMIN_TOKEN/)
    shows("the operator's token answers 401", core.lines)
    await newer.stop()
    // A token that a host generates does not replace one that the operator has set.
    const generated = await startCore({ DATABASE_URL, KEYWAY_ADMIN_TOKEN: '' })
    expect(await opens(THIRD)).toEqual([200, 200, 201])
    expect(await opens(generated.host.adminToken)).toEqual([401, 401, 401])
    expect(generated.lines.join('')).toMatch(/of another host.* KEYWAY_ADMIN_TOKEN/)
    await generated.stop()
  })
})

describe('a revoked operator’s token', () => {
  const own = (session: Awaited<ReturnType<typeof signedIn>>, id: string) =>
    session.post(`/settings/api-tokens/${id}/revoke`)

  test('is refused everywhere, also after a restart', async () => {
    await restart({ KEYWAY_ADMIN_TOKEN: THIRD })
    const session = await signedIn(core, THIRD)
    const unused = await linkCode(THIRD)
    const [row] = await core.db
      .select()
      .from(apiTokens)
      .where(and(eq(apiTokens.operator, true), isNull(apiTokens.revokedAt)))
    expect((await own(session, row?.id ?? '')).status).toBe(303)
    expect(await opens(THIRD)).toEqual([401, 401, 401])
    expect(await isIn(session)).toBe(false)
    expect(await isIn(await signInWith(unused))).toBe(false)
    await restart({ KEYWAY_ADMIN_TOKEN: THIRD })
    expect(await opens(THIRD)).toEqual([401, 401, 401])
    // An admin's token still works on /operator, and a new operator's token takes the place of the old one.
    expect((await core.call('GET', '/operator/connectors', { token: boss.token })).status).toBe(200)
    await restart({ KEYWAY_ADMIN_TOKEN: `${THIRD}x` })
    expect(await opens(`${THIRD}x`)).toEqual([200, 200, 201])
  })
})
