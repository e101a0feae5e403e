/** The SCIM connector's handlers against a real server: oidc-provider and SCIMMY. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import connector from '../../plugins/scim/connector.ts'
import type { Json } from '../../runtime/contract/schema/json.ts'
import type { Paged } from '../../runtime/sdk/sdk.ts'
import { missing, type RealSystem, serviceToken, startSystem } from '../real-systems/start.ts'
import { call, contextOf, pagesOf, type Tenant } from '../sdk/call-handler.ts'

const why = missing()

const grant = (account: string, group: string) => ({
  account_integration_specific_id: account,
  resource_integration_specific_id: '',
  resource_type: '',
  entitlement_type: 'GROUP',
  entitlement_integration_specific_id: group,
})

describe.skipIf(why !== null)(`the SCIM connector against SCIMMY${why ? ` (${why})` : ''}`, () => {
  let system: RealSystem
  let tenant: Tenant
  const scopes = 'scim.read scim.write'

  beforeAll(async () => {
    system = await startSystem('oidc-scim', { RATE_LIMIT: '100000' })
    tenant = { baseUrl: system.baseUrl, token: await serviceToken(system, scopes) }
  })
  afterAll(async () => {
    await system?.stop()
  })

  /** Creates an account with a unique name. */
  async function someone(fields: Record<string, string> = {}) {
    const email = `${randomUUID()}@example.com`
    const { id } = await call(connector, tenant, 'create_account', {
      email,
      entitlements: [],
      ...fields,
    })
    return { id: String(id), email }
  }
  const groupsOf = async (id: string) =>
    (await call(connector, tenant, 'get_account_entitlement_associations', { account_id: id })).map(
      (one) => one.integration_specific_entitlement_id,
    )

  test('identifies the tenant by its address', async () => {
    expect(await call(connector, tenant, 'validate_credentials', {})).toEqual({
      valid: true,
      unique_tenant_id: system.baseUrl.replace('http://', ''),
    })
  })

  test.each([
    [7, 36],
    [100, 3],
    [null, 3],
    [1000, 1],
  ])('lists all 250 users once in pages of %s', async (size, count) => {
    const pages = await pagesOf(connector, tenant, 'list_accounts', {}, size)
    const seeded = pages.flat().filter((one) => one.integration_specific_id.startsWith('u-0'))
    const ids = pages.flat().map((one) => one.integration_specific_id)
    expect(pages).toHaveLength(count)
    expect(new Set(ids).size).toBe(250)
    expect(ids).toHaveLength(250)
    expect(seeded[0]).toMatchObject({ email: 'user001@example.com', given_name: 'User' })
    expect(pages.flat().filter((one) => one.user_status === 'SUSPENDED')).toHaveLength(10)
  })

  test('lists single users in pages of 1', async () => {
    const handler = connector.list_accounts!
    let cursor: Json = null
    for (const id of ['u-001', 'u-002', 'u-003']) {
      const request = { custom_attributes: undefined }
      const page = (await handler(request, contextOf(tenant, cursor, 1))) as Paged<object[]>
      expect(page.response).toMatchObject([{ integration_specific_id: id }])
      cursor = page.cursor
    }
  })

  test('lists groups and memberships, each once', async () => {
    const groups = (await pagesOf(connector, tenant, 'list_entitlements', {}, 2)).flat()
    expect(groups.map((group) => group.label)).toEqual(['Engineering', 'Support', 'Empty'])
    const all = (await pagesOf(connector, tenant, 'find_entitlement_associations', {}, 1)).flat()
    const keys = all.map((one) => `${one.integration_specific_entitlement_id} ${one.account_id}`)
    expect(all).toHaveLength(75)
    expect(new Set(keys).size).toBe(75)
    expect((await groupsOf('u-010')).sort()).toEqual(['g-eng', 'g-sup'])
    expect(await groupsOf('u-001')).toEqual([])
  })

  test('lists the text attributes of the user schema, and reads one', async () => {
    const names = (await call(connector, tenant, 'list_custom_attributes_schema', {})).map(
      (one) => one.name,
    )
    expect(names).toEqual(expect.arrayContaining(['title', 'displayName', 'locale']))
    expect(names).not.toEqual(expect.arrayContaining(['userName']))
    expect(
      await call(connector, tenant, 'get_account', {
        account_id: 'u-001',
        custom_attributes: ['displayName'],
      }),
    ).toMatchObject({ custom_attributes: { displayName: 'User 001' } })
  })

  test('creates, reads, changes, suspends, activates and deletes an account', async () => {
    const { id, email } = await someone({ given_name: 'Jo', family_name: 'Roe', title: 'Lead' })
    const read = () =>
      call(connector, tenant, 'get_account', { account_id: id, custom_attributes: ['title'] })
    expect(await read()).toMatchObject({
      email,
      username: email,
      given_name: 'Jo',
      family_name: 'Roe',
      user_status: 'ACTIVE',
      custom_attributes: { title: 'Lead' },
    })

    const other = `${randomUUID()}@example.com`
    const changes = { id, given_name: 'Joanna', title: 'Head', email: other }
    expect(await call(connector, tenant, 'update_account', changes)).toEqual(changes)
    expect(await read()).toMatchObject({
      email: other,
      username: email,
      given_name: 'Joanna',
      family_name: 'Roe',
      custom_attributes: { title: 'Head' },
    })

    for (const _twice of [1, 2]) {
      expect(await call(connector, tenant, 'deactivate_account', { account_id: id })).toEqual({
        status: 'SUSPENDED',
        deactivated: true,
      })
    }
    expect(await read()).toMatchObject({ user_status: 'SUSPENDED' })
    for (const _twice of [1, 2]) {
      expect(await call(connector, tenant, 'activate_account', { account_id: id })).toEqual({
        status: 'ACTIVE',
        activated: true,
      })
    }
    expect(await read()).toMatchObject({ user_status: 'ACTIVE' })

    expect(await call(connector, tenant, 'delete_account', { account_id: id })).toEqual({
      status: 'DELETED',
      deleted: true,
    })
    const gone = { error_code: 'not_found', status_code: 404 }
    await expect(read()).rejects.toMatchObject(gone)
    await expect(
      call(connector, tenant, 'delete_account', { account_id: id }),
    ).rejects.toMatchObject(gone)
  })

  test('assigns and unassigns an entitlement idempotently', async () => {
    const { id } = await someone()
    for (const _twice of [1, 2]) {
      expect(await call(connector, tenant, 'assign_entitlement', grant(id, 'g-empty'))).toEqual({
        assigned: true,
      })
    }
    const reply = await fetch(`${tenant.baseUrl}/Groups/g-empty`, {
      headers: { authorization: `Bearer ${tenant.token}` },
    })
    const { members } = (await reply.json()) as { members: { value: string }[] }
    expect(members.filter((member) => member.value === id)).toHaveLength(1)
    expect(await groupsOf(id)).toEqual(['g-empty'])

    for (const _twice of [1, 2]) {
      expect(await call(connector, tenant, 'unassign_entitlement', grant(id, 'g-empty'))).toEqual({
        unassigned: true,
      })
    }
    expect(await groupsOf(id)).toEqual([])
    await call(connector, tenant, 'delete_account', { account_id: id })
  })

  test('returns a membership once that the service lists twice', async () => {
    const { id } = await someone()
    const add = { op: 'add', path: 'members', value: [{ value: id }, { value: id }] }
    await fetch(`${tenant.baseUrl}/Groups/g-empty`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${tenant.token}`,
        'content-type': 'application/scim+json',
      },
      body: JSON.stringify({
        schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
        Operations: [add],
      }),
    })
    const all = (await pagesOf(connector, tenant, 'find_entitlement_associations', {})).flat()
    expect(all.filter((one) => one.account_id === id)).toHaveLength(1)
    expect(await groupsOf(id)).toEqual(['g-empty'])
    await call(connector, tenant, 'unassign_entitlement', grant(id, 'g-empty'))
    expect(await groupsOf(id)).toEqual([])
    await call(connector, tenant, 'delete_account', { account_id: id })
  })

  const missing404 = { error_code: 'not_found', status_code: 404 }
  test.each<[string, () => Promise<unknown>, object]>([
    [
      'an unknown account',
      () => call(connector, tenant, 'get_account', { account_id: 'nobody' }),
      missing404,
    ],
    [
      'an update of an unknown user',
      () => call(connector, tenant, 'update_account', { id: 'x', title: 'a' }),
      missing404,
    ],
    ['the groups of an unknown user', () => groupsOf('nobody'), missing404],
    [
      'an unknown group',
      () => call(connector, tenant, 'assign_entitlement', grant('u-001', 'none')),
      missing404,
    ],
    [
      'a missing user as a member',
      () => call(connector, tenant, 'assign_entitlement', grant('nobody', 'g-empty')),
      missing404,
    ],
    [
      'unassigning from an unknown group',
      () => call(connector, tenant, 'unassign_entitlement', grant('u-001', 'none')),
      missing404,
    ],
    [
      'a user name that is already used',
      () =>
        call(connector, tenant, 'create_account', {
          username: 'user001@example.com',
          entitlements: [],
        }),
      { error_code: 'api_error', status_code: 409, app_error_code: 'uniqueness' },
    ],
    [
      'an attribute that the service does not have',
      () => call(connector, tenant, 'update_account', { id: 'u-001', department: 'R&D' }),
      { error_code: 'bad_request', status_code: 400, app_error_code: 'invalidPath' },
    ],
    [
      'a wrong token',
      () => call(connector, { ...tenant, token: 'wrong' }, 'validate_credentials', {}),
      { error_code: 'unauthenticated', status_code: 401 },
    ],
    [
      'an address without SCIM',
      () =>
        call(
          connector,
          { ...tenant, baseUrl: `${tenant.baseUrl}/nothing` },
          'validate_credentials',
          {},
        ),
      missing404,
    ],
  ])('reports %s', async (_what, act, expected) => {
    await expect(act()).rejects.toMatchObject({ name: 'ConnectorError', ...expected })
  })

  test('is not permitted to write with a read-only token', async () => {
    const reader = { ...tenant, token: await serviceToken(system, 'scim.read') }
    expect(await call(connector, reader, 'validate_credentials', {})).toMatchObject({ valid: true })
    await expect(
      call(connector, reader, 'deactivate_account', { account_id: 'u-001' }),
    ).rejects.toMatchObject({ error_code: 'permission_denied', status_code: 403 })
  })

  test('reports the rate limit', async () => {
    system = await system.restart({ RATE_LIMIT: '3' })
    tenant = { baseUrl: system.baseUrl, token: await serviceToken(system, scopes) }
    await expect(pagesOf(connector, tenant, 'list_accounts', {}, 7)).rejects.toMatchObject({
      error_code: 'rate_limit',
      status_code: 429,
    })
  })
})
