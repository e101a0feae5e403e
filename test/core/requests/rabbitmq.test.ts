/** From a sync of a real RabbitMQ broker to a grant in it, and back: what people ask for is what the sync told. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../e2e/until.ts'
import { installSystem, missing, type RealSystem } from '../../real-systems/start.ts'
import { type CoreHost, type Person, person, startCore } from '../host.ts'
import { type Company, company } from './company.ts'

type Basic = { username: string; password: string }

const tools = missing('apt-get', 'dpkg')
const installed = tools === null ? await installSystem<Basic>('rabbitmq') : { why: tools }
const why = 'why' in installed ? installed.why : null

describe.skipIf(why !== null)(`access to a RabbitMQ broker${why ? ` (${why})` : ''}`, () => {
  let system: RealSystem<Basic>
  let core: CoreHost
  let acme: Company
  let appId: string
  let ada: Person

  beforeAll(async () => {
    if ('why' in installed) throw new Error(installed.why)
    system = await installed.system.start()
    core = await startCore({
      KEYWAY_PRIVATE_EGRESS: `rabbitmq=${new URL(system.baseUrl).host}`,
      KEYWAY_REQUESTS_PER_MINUTE: '100000',
    })
    await core.host.settled
    acme = company(core)
    appId = await acme.connected({
      app_class_id: 'rabbitmq',
      auth: { username: system.auth.username, password: system.auth.password },
      settings: { base_url: system.baseUrl },
    })
    ada = await person(core.db, 'ada@acme.example')
    await core.call('POST', `/apps/${appId}/sync`, { body: { sync_type: 'full_sync' } })
    await until('the sync ends', async () => {
      const { body } = await core.call('GET', `/apps/${appId}`)
      return body.sync_status === 'SUCCESS'
    })
  })
  afterAll(async () => {
    await core?.stop()
    await system?.stop()
  })

  /** The broker itself. */
  const broker = async (path: string) => {
    const { username, password } = system.auth
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    const reply = await fetch(system.baseUrl + path, { headers: { authorization } })
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
    return { status: reply.status, body: (await reply.json()) as any }
  }
  const tagsOf = async (user: string): Promise<string[]> => {
    const { body } = await broker(`/users/${encodeURIComponent(user)}`)
    return [body.tags ?? []].flat()
  }

  async function permission(label: string): Promise<string> {
    const { body } = await core.call(
      'GET',
      `/appstore/requestable_permissions?app_id=${appId}&search_term=${label}&size=100`,
    )
    const [found] = body.items
    expect(found, label).toBeDefined()
    expect(found.type).toBe('SYNCED')
    const shown = { request_config: { appstore_visibility: 'VISIBLE' } }
    await core.call('PATCH', `/appstore/requestable_permissions/${found.id}`, { body: shown })
    return found.id
  }

  it('is asked for, approved, there, over and gone', async () => {
    const id = await acme.asked(ada, {
      app_id: appId,
      requestable_permission_ids: [await permission('monitoring')],
      expiration_in_seconds: 4,
      note: 'on call',
    })
    await acme.settle(id, 'complete')
    await acme.reaches(id, 'COMPLETED')
    expect(await tagsOf('ada@acme.example')).toContain('monitoring')
    await acme.reaches(id, 'TIME_BASED_EXPIRED')
    expect(await tagsOf('ada@acme.example')).not.toContain('monitoring')
  })
})
