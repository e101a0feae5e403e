/**
 * One review across three real third-party servers: of 250 accounts 40 are rejected and removed, the servers
 * themselves confirm it, and both verifiers check the evidence offline.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../e2e/until.ts'
import { type CoreHost, domainOf, startCore } from '../../host.ts'
import { type Acme, acme } from '../../policies/acme.ts'
import { company } from '../../requests/company.ts'
import type { RealAccess } from '../../requests/real/paths.ts'
import { startRabbitMq, why as whyNoBroker } from '../../requests/real/rabbitmq.ts'
import { startScimmy, why as whyNoScimmy } from '../../requests/real/scimmy.ts'
import { sync } from '../../sync/synced.ts'
import { hasPython, SCRIPT } from '../evidence/verdicts.ts'
import type { Line } from '../reviewed.ts'
import { startPostgresql, why as whyNoDatabase } from './postgresql.ts'

/** Accounts of each server, and how many of them are rejected. */
const SYSTEMS = {
  scimmy: { start: startScimmy, accounts: 100, rejected: 16 },
  rabbitmq: { start: startRabbitMq, accounts: 100, rejected: 16 },
  postgresql: { start: startPostgresql, accounts: 50, rejected: 8 },
} as const
type Name = keyof typeof SYSTEMS
const NAMES: readonly Name[] = ['scimmy', 'rabbitmq', 'postgresql']

type Found = Line & { user_email: string | null; account_email: string | null }

/** A server without addresses uses them as ids. */
const addressOf = (line: Found): string =>
  line.user_email ?? line.account_email ?? line.unique_identifier

const FAR = '2999-01-01T00:00:00Z'
const PEOPLE = 100
const emailOf = (n: number) => `held-${n}@acme.example`

const COMMAND = path.join(
  import.meta.dirname,
  ...['..', '..', '..', '..', 'runtime', 'cli', 'keyway.mjs'],
)
const run = promisify(execFile)

const why = whyNoScimmy ?? whyNoBroker ?? whyNoDatabase

describe.skipIf(why !== null)(`a review of three servers${why ? ` (${why})` : ''}`, () => {
  const home = mkdtempSync(path.join(tmpdir(), 'keyway-flow-'))
  const systems = new Map<Name, RealAccess>()
  const apps = new Map<Name, string>()
  let core: CoreHost
  let people: Acme

  const system = (name: Name): RealAccess => {
    const found = systems.get(name)
    if (!found) throw new Error(`the system ${name} has not been started`)
    return found
  }
  const appOf = (name: Name): string => apps.get(name) ?? ''

  beforeAll(async () => {
    await Promise.all(
      NAMES.map(async (name) => {
        const one = await SYSTEMS[name].start()
        systems.set(name, one)
        for (let n = 0; n < SYSTEMS[name].accounts; n += 1) await one.give(emailOf(n))
      }),
    )
    core = await startCore({
      KEYWAY_PRIVATE_EGRESS: NAMES.map((name) => system(name).egress).join(' '),
      KEYWAY_REQUESTS_PER_MINUTE: '100000',
    })
    await core.host.settled
    people = acme(core)
    await core.db.execute(sql`
      insert into users (domain_id, email) select ${await domainOf(core.db)}, 'held-' || n || '@acme.example'
      from generate_series(0, ${PEOPLE - 1}::int) n`)
    await Promise.all(
      NAMES.map(async (name) => {
        const { id } = await post('/apps', system(name).app, 200)
        apps.set(name, await company(core).inStore(id))
        expect((await sync(core, id)).state).toBe('SUCCEEDED')
      }),
    )
  }, 240_000)
  afterAll(async () => {
    await core?.stop()
    await Promise.all([...systems.values()].map((one) => one.stop()))
    rmSync(home, { recursive: true, force: true })
  })

  const post = async (path: string, body: object, status: number) => {
    const reply = await core.call('POST', path, { body })
    expect(reply.status, JSON.stringify(reply.body)).toBe(status)
    return reply.body
  }
  const get = async (path: string) => (await core.call('GET', path)).body

  /** A review with all of its apps launched. */
  async function launched(name: string, ids: readonly string[]): Promise<string> {
    const body = { name, deadline_at: FAR, apps: ids.map((id) => ({ id })) }
    const { id } = (await post('/access_reviews', body, 201)).access_review
    await until('every app of the review is IN_PROGRESS', async () =>
      (await get(`/access_reviews/${id}`)).apps.every(
        ({ status }: { status: string }) => status === 'IN_PROGRESS',
      ),
    )
    return id
  }
  const completed = (id: string) =>
    until(
      'the review is COMPLETED',
      async () => (await get(`/access_reviews/${id}`)).status === 'COMPLETED',
      180_000,
    )

  it('removes rejected access in the servers themselves, and nothing else', async () => {
    const id = await launched('Everything', [...apps.values()])
    const decide = `/access_reviews/${id}/items/decide`
    const gone = new Map<Name, Set<string>>()
    for (const { id: reviewAppId, domain_app_id } of (await get(`/access_reviews/${id}`)).apps) {
      const name = NAMES.find((one) => appOf(one) === domain_app_id) ?? 'scimmy'
      const { accounts, rejected } = SYSTEMS[name]
      const query = `arda_id=${reviewAppId}&search=held-&size=100`
      const { items } = await get(`/access_reviews/${id}/items?${query}`)
      const held: Found[] = items.filter(({ label }: Line) => label === system(name).label)
      expect(held, name).toHaveLength(accounts)
      const chosen = held.filter((_, at) => at % 6 === 0).slice(0, rejected)
      const item_ids = chosen.map((line) => line.id)
      const no = { decision: 'REJECT', item_ids, reason: 'left the team' }
      expect((await post(decide, no, 200)).decided).toBe(rejected)
      gone.set(name, new Set(chosen.map(addressOf)))
    }
    await post(decide, { decision: 'KEEP', filter: {}, reason: 'the rest stays' }, 200)
    await post(`/access_reviews/${id}/complete`, {}, 200)
    await completed(id)
    const { states } = await get(`/access_reviews/${id}/progress`)
    expect(states['REMOVED']).toBe(40)
    expect(Object.keys(states).sort()).toEqual(['KEPT', 'REMOVED'])
    for (const name of NAMES)
      for (let n = 0; n < SYSTEMS[name].accounts; n += 1) {
        const isGone = gone.get(name)?.has(emailOf(n)) ?? false
        expect(await system(name).holds(emailOf(n)), `${name} ${n}`).toBe(!isGone)
      }

    const file = path.join(home, 'evidence.jsonl')
    const text: string = await get(`/access_reviews/${id}/evidence`)
    writeFileSync(file, text)
    const { keys } = await get('/.well-known/keyway-evidence-keys')
    const key = keys[0].fingerprint
    const { stdout } = await run(process.execPath, [
      COMMAND,
      'review',
      'verify',
      file,
      '--key',
      key,
    ])
    expect(stdout).toMatch(/40/)
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
    if (hasPython) await run('python3', [SCRIPT, file, '--key', key], { env })
    // Both verifiers detect a single altered removal.
    writeFileSync(file, text.replace('"state":"REMOVED"', '"state":"KEPT"'))
    await expect(
      run(process.execPath, [COMMAND, 'review', 'verify', file, '--key', key]),
    ).rejects.toThrow()
    if (hasPython)
      await expect(run('python3', [SCRIPT, file, '--key', key], { env })).rejects.toThrow()
  }, 240_000)

  it.each(['scimmy', 'rabbitmq'] as const)(
    'removes access that a policy granted in %s, and the policy does not grant it again',
    async (name) => {
      const { label, holds } = system(name)
      const { items } = await get(
        `/appstore/requestable_permissions?app_id=${appOf(name)}&search_term=${label}`,
      )
      const permissions = [{ id: items[0].id }]
      const team = `Watch of ${name}`
      await people.policy(team, [{ id: appOf(name), is_preapproved: true, permissions }])
      const ada = await people.worker(`ada-${name}`, team)
      await people.reach(ada.id, 'COMPLETED')
      expect(await holds(ada.email)).toBe(true)
      expect((await sync(core, appOf(name))).state).toBe('SUCCEEDED')
      const id = await launched(team, [appOf(name)])
      const hers = await get(`/access_reviews/${id}/items?user_id=${ada.id}`)
      const line = hers.items.find((one: Line) => one.label === label)
      expect(line.hints).toContainEqual({ name: 'GIVEN_BY_POLICY', red: false })
      const no = { decision: 'REJECT', item_ids: [line.id], reason: 'not she' }
      expect((await post(`/access_reviews/${id}/items/decide`, no, 200)).decided).toBe(1)
      await post(`/access_reviews/${id}/complete`, {}, 200)
      await people.reach(ada.id, 'REVERTED')
      await completed(id)
      // The policy is evaluated again: she still matches it, but gets nothing.
      await people.moveTo(ada.id, team)
      await people.untilCompared()
      await people.reach(ada.id, 'REVERTED')
      expect(await holds(ada.email)).toBe(false)
    },
    240_000,
  )
})
