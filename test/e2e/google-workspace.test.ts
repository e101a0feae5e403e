/**
 * Runs the Google Workspace connector end to end: through the host, its signer, its sandbox and its egress,
 * against a fake Google.
 */
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { exportPKCS8, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectorClient } from './connector-client.ts'
import { routesOf } from './google-routes.ts'
import { type StandIn, startStandIn } from './google-stand-in.ts'
import { CUSTOMER, createTenant, type Tenant } from './google-tenant.ts'
import { startHost, type TestHost } from './host.ts'

type Account = { integration_specific_id: string; email: string; user_status: string }
type Named = { integration_specific_id: string; integration_specific_resource_id: string }
type Association = {
  account_id: string
  integration_specific_entitlement_id: string
  integration_specific_resource_id: string
}
type Record_ = { id: string; activity_type: string; actor: object; targets: object[] }

const CONNECTOR = 'google-workspace-here'
const FOLDER = path.join(import.meta.dirname, '..', '..', 'plugins', 'google-workspace')
const ACCOUNT = {
  email: 'keyway@project.iam.gserviceaccount.com',
  subject: 'user001@acme.example',
  scopes: [
    'https://www.googleapis.com/auth/admin.directory.user',
    'https://www.googleapis.com/auth/apps.licensing',
  ],
}

/** The connector unchanged, except for the addresses of Google and the rate limits. */
async function connectorFor(origin: string) {
  const files = await Promise.all(
    (await readdir(FOLDER)).map(async (name) => {
      const text = await readFile(path.join(FOLDER, name), 'utf8')
      return [name, text.replaceAll(/https:\/\/(admin|licensing|oauth2)\.googleapis\.com/g, origin)]
    }),
  )
  const copy: Record<string, string> = Object.fromEntries(files)
  const manifest = JSON.parse(copy['connector.json'] ?? '')
  const limits = { ...manifest.limits, requests_per_second: 10_000, concurrent_requests: 64 }
  return { ...copy, 'connector.json': JSON.stringify({ ...manifest, id: CONNECTOR, limits }) }
}

describe('the Google Workspace connector', () => {
  let standIn: StandIn
  let tenant: Tenant
  let host: TestHost
  let privateKey: string
  let otherKey: string

  beforeAll(async () => {
    const keys = await generateKeyPair('RS256', { extractable: true })
    privateKey = await exportPKCS8(keys.privateKey)
    otherKey = await exportPKCS8((await generateKeyPair('RS256', { extractable: true })).privateKey)
    tenant = createTenant()
    standIn = await startStandIn({
      routes: routesOf(tenant),
      publicKey: keys.publicKey,
      account: ACCOUNT,
    })
    host = await startHost({
      env: {
        KEYWAY_PRIVATE_EGRESS: `${CONNECTOR}=${new URL(standIn.url).host}`,
        KEYWAY_MAX_REQUESTS_PER_SECOND: '10000',
      },
      connectors: { [CONNECTOR]: await connectorFor(standIn.url) },
    })
    await host.served(CONNECTOR, '1.0.0')
  })
  afterAll(async () => {
    await host?.stop()
    await standIn?.stop()
  })

  const credential = (more: object = {}) => ({
    service_account: {
      key: {
        type: 'service_account',
        project_id: 'project',
        private_key_id: 'k1',
        private_key: privateKey,
        client_email: ACCOUNT.email,
        token_uri: `${standIn.url}/token`,
      },
      impersonation_email: ACCOUNT.subject,
      tenant_id: '',
      scopes: ACCOUNT.scopes,
      service_type: 'google_cloud',
      ...more,
    },
  })
  type Given = { auth?: object; settings?: object }
  const envelope = (request: object = {}, { auth, settings }: Given = {}) => ({
    auth: auth ?? credential(),
    settings: { ...settings },
    request,
  })
  const { done, refused, all } = connectorClient(() => host, CONNECTOR, envelope)

  const grant = (account: string, type: string, id: string, resource = '') => ({
    account_integration_specific_id: account,
    resource_integration_specific_id: resource,
    resource_type: resource === '' ? '' : resource.startsWith('id:') ? 'ORG_UNIT' : 'GROUP',
    entitlement_type: type,
    entitlement_integration_specific_id: id,
  })
  const told = (one: Association) =>
    `${one.integration_specific_entitlement_id} ${one.integration_specific_resource_id}`.trim()
  const heldBy = async (account_id: string) =>
    (await done<Association[]>('get_account_entitlement_associations', { account_id }))
      .map(told)
      .sort()
  const someone = async (more: object = {}) =>
    (
      await done<{ id: string }>('create_account', {
        email: `u-${randomUUID()}@acme.example`,
        given_name: 'Ada',
        family_name: 'Lovelace',
        entitlements: [],
        ...more,
      })
    ).id
  const state = () =>
    JSON.stringify([
      [...tenant.users],
      [...tenant.groups].map(([id, { members }]) => [id, [...members]]),
      [...tenant.licenses].map(([id, held]) => [id, [...held]]),
      tenant.assignments,
    ])

  test('identifies its tenant by the id of the customer', async () => {
    expect(await done('validate_credentials')).toEqual({ valid: true, unique_tenant_id: CUSTOMER })
  })

  test.each([1, 7, 100, undefined])(
    'lists every account exactly once in pages of %s',
    async (size) => {
      const pages = await host.pages<Account>(CONNECTOR, 'list_accounts', envelope(), size)
      expect(pages).toHaveLength(Math.ceil(250 / (size ?? 500)))
      expect(pages.flat().map((one) => one.email)).toEqual(
        Array.from({ length: 250 }, (_, n) => `user${String(n + 1).padStart(3, '0')}@acme.example`),
      )
      // Every 25th is suspended, the 13th archived.
      expect(pages.flat().filter((one) => one.user_status === 'SUSPENDED')).toHaveLength(11)
    },
  )

  test('logs in once for many pages, and again after a token has expired', async () => {
    await done('validate_credentials')
    const before = standIn.logins()
    await all('list_accounts', 50)
    expect(standIn.logins()).toBe(before)
    standIn.endTokens()
    expect(await all('list_accounts', 50)).toHaveLength(250)
    expect(standIn.logins()).toBe(before + 1)
  })

  test('returns custom attributes, including those that the customer has added', async () => {
    const schema = await done<{ name: string }[]>('list_custom_attributes_schema')
    expect(schema.map((one) => one.name)).toEqual([
      'title',
      'department',
      'employee_id',
      'manager',
      'org_unit_path',
      'Badge.number',
    ])
    const names = schema.map((one) => one.name)
    const accounts = await done<Record<string, object>[]>('list_accounts', {
      custom_attributes: names,
    })
    expect(accounts[6]).toMatchObject({
      custom_attributes: { title: 'Chef', department: 'Kitchen', org_unit_path: '/' },
    })
    expect(accounts[7]).toMatchObject({
      custom_attributes: { 'Badge.number': '8', org_unit_path: '/Sales' },
    })
  })

  test.each([1, 7, undefined])(
    'lists all resources and entitlements, in pages of %s',
    async (size) => {
      const resources = await all<Named>('list_resources', size)
      expect(resources.map((one) => one.integration_specific_id).sort()).toEqual(
        [...tenant.groups.keys(), 'id:emea', 'id:root', 'id:sales'].sort(),
      )
      const found = await all<Named>('list_entitlements', size)
      const ids = found.map(
        (one) => `${one.integration_specific_id} ${one.integration_specific_resource_id}`,
      )
      expect(new Set(ids).size).toBe(ids.length)
      // 12 groups with 3 roles, 3 units, 11 licences, 2 admin roles, one of them in 2 units.
      expect(ids).toHaveLength(12 * 3 + 3 + 11 + 2 + 2)
    },
  )

  test.each([7, 100, undefined])(
    'lists who has which entitlement, in pages of %s',
    async (size) => {
      const held = await all<Association>('find_entitlement_associations', size)
      expect(new Set(held.map((one) => JSON.stringify(one))).size).toBe(held.length)
      const members = [...tenant.groups.values()].reduce((sum, one) => sum + one.members.size, 0)
      expect(held).toHaveLength(250 + members + 120 + 2)
      for (const account of ['10001', '10002', '1000120'])
        expect(
          held
            .filter((one) => one.account_id === account)
            .map(told)
            .sort(),
        ).toEqual(await heldBy(account))
    },
  )

  test('supports the whole life cycle of an account, and leaves the Workspace as it was', async () => {
    const before = state()
    const id = await someone({
      password: 'the-first-password',
      title: 'Countess',
      org_unit_path: '/Sales',
    })
    expect(tenant.passwords.get(id)).toBe('the-first-password')
    expect(await heldBy(id)).toEqual(['place id:sales'])

    const grants = [
      grant(id, 'GROUP_ROLE', 'MANAGER', 'g3'),
      grant(id, 'LICENSE', 'Google-Apps/1010020028'),
      grant(id, 'ADMIN_ROLE', '9002'),
      grant(id, 'ORG_UNIT_ADMIN_ROLE', '9002', 'id:sales'),
    ]
    for (const one of [...grants, grant(id, 'ORG_UNIT_MEMBERSHIP', 'place', 'id:emea')])
      for (const _twice of [1, 2])
        expect(await done('assign_entitlement', one)).toEqual({ assigned: true })
    expect(await heldBy(id)).toEqual([
      '9002',
      '9002 id:sales',
      'Google-Apps/1010020028',
      'MANAGER g3',
      'place id:emea',
    ])
    await done('assign_entitlement', grant(id, 'GROUP_ROLE', 'MEMBER', 'g3'))
    expect(tenant.groups.get('g3')?.members.get(id)).toBe('MEMBER')
    // The account has another role than this one.
    await done('unassign_entitlement', grants[0])
    expect(tenant.groups.get('g3')?.members.get(id)).toBe('MEMBER')
    await done('assign_entitlement', grants[0])

    await done('update_account', {
      id,
      family_name: 'King',
      department: 'Research',
      password: 'the-second-password',
    })
    expect(tenant.users.get(id)).toMatchObject({
      name: { familyName: 'King' },
      organizations: [{ title: 'Countess', department: 'Research', primary: true }],
    })
    expect(tenant.passwords.get(id)).toBe('the-second-password')

    for (const _twice of [1, 2])
      expect(await done('deactivate_account', { account_id: id })).toEqual({
        status: 'SUSPENDED',
        deactivated: true,
      })
    for (const _twice of [1, 2])
      expect(await done('activate_account', { account_id: id })).toEqual({
        status: 'ACTIVE',
        activated: true,
      })

    for (const one of grants)
      for (const _twice of [1, 2])
        expect(await done('unassign_entitlement', one)).toEqual({ unassigned: true })
    expect(await heldBy(id)).toEqual(['place id:emea'])
    expect(
      await refused('unassign_entitlement', grant(id, 'ORG_UNIT_MEMBERSHIP', 'place', 'id:emea')),
    ).toMatchObject({ error_code: 'unsupported_operation', app_error_code: 'needs_a_unit' })

    expect(await done('delete_account', { account_id: id })).toEqual({
      status: 'DELETED',
      deleted: true,
    })
    for (const capability of ['delete_account', 'get_account', 'deactivate_account'])
      expect(await refused(capability, { account_id: id })).toMatchObject({
        error_code: 'not_found',
        app_error_code: 'notFound',
        status_code: 404,
      })
    expect(state()).toBe(before)
  })

  test('neither suspends, deletes nor demotes the administrator that it acts for', async () => {
    const own = '10001'
    for (const [capability, request] of [
      ['deactivate_account', { account_id: own }],
      ['delete_account', { account_id: own }],
      ['delete_account', { account_id: ACCOUNT.subject }],
      ['unassign_entitlement', grant(own, 'ADMIN_ROLE', '9001')],
    ] as const)
      expect(await refused(capability, request)).toMatchObject({
        error_code: 'unsupported_operation',
        app_error_code: 'own_account',
      })
    expect(tenant.users.get(own)).toMatchObject({ suspended: false })
    expect(tenant.assignments.map((one) => one.assignedTo)).toContain(own)
  })

  test('creates an account with all entitlements, or none', async () => {
    const wanted = (group: string) => [
      { entitlement_type: 'LICENSE', integration_specific_id: 'Google-Apps/1010020027' },
      {
        entitlement_type: 'GROUP_ROLE',
        integration_specific_id: 'MEMBER',
        integration_specific_resource_id: group,
      },
    ]
    const id = await someone({ entitlements: wanted('g3') })
    expect(await heldBy(id)).toEqual(['Google-Apps/1010020027', 'MEMBER g3', 'place id:root'])
    await done('delete_account', { account_id: id })
    const before = state()
    const lost = {
      email: 'lost@acme.example',
      given_name: 'A',
      family_name: 'B',
      entitlements: wanted('nowhere'),
    }
    expect(await refused('create_account', lost)).toMatchObject({ error_code: 'not_found' })
    expect(state()).toBe(before)
  })

  test('does not overwrite an existing account on creation', async () => {
    const taken = {
      email: 'user003@acme.example',
      given_name: 'A',
      family_name: 'B',
      entitlements: [],
    }
    expect(await refused('create_account', taken)).toMatchObject({
      error_code: 'api_error',
      app_error_code: 'duplicate',
      status_code: 409,
    })
  })

  test('sets a random password if none is given', async () => {
    const id = await someone()
    expect(tenant.passwords.get(id)).toMatch(/^Aa1-[0-9a-f]{48}$/)
    await done('delete_account', { account_id: id })
  })

  test('downgrades a licence within its product', async () => {
    const given = { settings: { downgrade_to: 'Google-Apps/1010020027' } }
    const held = tenant.licenses.get('Google-Apps')
    for (const _twice of [1, 2]) {
      expect(await done('downgrade_license', { account_id: '10005' }, given)).toEqual({
        success: true,
        reason: null,
      })
      expect(held?.get('user005@acme.example')).toBe('1010020027')
    }
    expect(await done('downgrade_license', { account_id: '1000200' }, given)).toEqual({
      success: false,
      reason: 'The account has no licence of Google-Apps',
    })
    expect(await refused('downgrade_license', { account_id: 'no' }, given)).toMatchObject({
      error_code: 'not_found',
    })
    expect(await refused('downgrade_license', { account_id: '10005' })).toMatchObject({
      error_code: 'integration_missing_parameter',
    })
    held?.set('user005@acme.example', '1010020028')
  })

  test('transfers the data of an account to another', async () => {
    expect(
      await done('transfer_data', { source_account_id: '10001', target_account_id: '10002' }),
    ).toEqual({ success: true, reason: null })
    expect(tenant.transfers).toEqual([
      {
        oldOwnerUserId: '10001',
        newOwnerUserId: '10002',
        applicationDataTransfers: [
          {
            applicationId: '55656082996',
            applicationTransferParams: [{ key: 'PRIVACY_LEVEL', value: ['PRIVATE', 'SHARED'] }],
          },
          { applicationId: '435070579839', applicationTransferParams: [] },
        ],
      },
    ])
  })

  test('reports the last login of accounts that have logged in', async () => {
    const account_ids = ['10001', '100010', 'no', '10002']
    expect(await done('get_last_activity', { account_ids })).toEqual([
      { account_id: '10001', event_type: 'last_login', happened_at: '2026-11-01T10:00:00.000Z' },
      { account_id: '10002', event_type: 'last_login', happened_at: '2026-11-01T10:00:00.000Z' },
    ])
  })

  test.each([1, 7, undefined])(
    'lists logins and actions of administrators, in pages of %s',
    async (size) => {
      const given = { settings: { activity_days: 30 } }
      const pages = await host.pages<Record_>(
        CONNECTOR,
        'list_activity_records',
        envelope({}, given),
        size,
      )
      const records = pages.flat()
      expect(new Set(records.map((one) => one.id)).size).toBe(32)
      expect(records).toHaveLength(32)
      expect(records.filter((one) => one.activity_type === 'login_success')).toHaveLength(24)
      expect(records.at(-1)).toMatchObject({
        activity_type: 'CHANGE_PASSWORD',
        actor: { id: '10001', username: 'user001@acme.example' },
        targets: [{ type: 'USER', name: 'user002@acme.example' }],
      })
    },
  )

  test.each<[string, () => object]>([
    [
      'another key',
      () => credential({ key: { ...credential().service_account.key, private_key: otherKey } }),
    ],
    [
      'a person that it may not impersonate',
      () => credential({ impersonation_email: 'other@acme.example' }),
    ],
    [
      'scopes that were not granted',
      () => credential({ scopes: ['https://www.googleapis.com/auth/drive'] }),
    ],
    [
      'another service account',
      () =>
        credential({ key: { ...credential().service_account.key, client_email: 'x@y.example' } }),
    ],
  ])('fails to log in with %s', async (_what, auth) => {
    expect(await refused('validate_credentials', {}, { auth: auth() })).toMatchObject({
      error_code: 'unauthenticated',
      message: expect.stringContaining('The login failed'),
    })
  })
  test.each<[string, string, object, object]>([
    ['an unknown account', 'get_account', { account_id: 'no' }, { error_code: 'not_found' }],
    ['an account named ..', 'delete_account', { account_id: '..' }, { error_code: 'bad_request' }],
    [
      'an entitlement that the user does not have',
      'get_account_entitlement_associations',
      { account_id: 'no' },
      { error_code: 'not_found' },
    ],
    [
      'a group for an unknown user',
      'assign_entitlement',
      grant('no', 'GROUP_ROLE', 'MEMBER', 'g1'),
      { error_code: 'not_found' },
    ],
    [
      'an unknown user to remove',
      'unassign_entitlement',
      grant('no', 'GROUP_ROLE', 'MEMBER', 'g1'),
      { error_code: 'not_found' },
    ],
    [
      'an unknown group',
      'unassign_entitlement',
      grant('10001', 'GROUP_ROLE', 'MEMBER', 'nowhere'),
      { error_code: 'not_found' },
    ],
    [
      'an unknown unit',
      'assign_entitlement',
      grant('10001', 'ORG_UNIT_MEMBERSHIP', 'place', 'id:no'),
      { error_code: 'not_found' },
    ],
    [
      'a second licence of a product',
      'assign_entitlement',
      grant('10001', 'LICENSE', 'Google-Apps/1010020020'),
      { error_code: 'api_error', app_error_code: 'conditionNotMet', status_code: 412 },
    ],
    [
      'an unknown admin role',
      'assign_entitlement',
      grant('10001', 'ADMIN_ROLE', 'no'),
      { error_code: 'not_found' },
    ],
    [
      'an unknown type of entitlement',
      'assign_entitlement',
      grant('10001', 'TAG', 'x', 'y'),
      { error_code: 'bad_request', raised_by: 'ConnectorError' },
    ],
    ['an empty update', 'update_account', { id: '10001' }, { error_code: 'bad_request' }],
    [
      'an account without a name',
      'create_account',
      { email: 'x@acme.example', entitlements: [] },
      { error_code: 'integration_missing_parameter' },
    ],
  ])('reports %s with its error code', async (_what, capability, request, expected) => {
    expect(await refused(capability, request)).toMatchObject(expected)
  })
})
