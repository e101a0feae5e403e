/** Runs `ctx.ldap` end to end: a connector in its sandbox, the host's proxy, a real OpenLDAP. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Directory, noDirectory, startDirectory } from '../egress/ldap/directory.ts'
import { failure, startHost, success, type TestHost } from './host.ts'

const MANIFEST = {
  id: 'people',
  version: '1.0.0',
  runtime: '^1.0.0',
  authentication_schema: { kind: 'basic' },
  settings: {
    url: { type: 'string', required: true, pattern: '^ldaps?://[a-z0-9.-]+(:[0-9]+)?$' },
    base_dn: { type: 'string', required: true },
  },
  egress: [{ ldap: '{settings.url}', base: '{settings.base_dn}', bind: { credential: 'auth' } }],
  capabilities: {
    validate_credentials: {},
    list_accounts: {},
    get_account: {},
    create_account: { request_fields: { password: { type: 'string', secret: true } } },
    delete_account: {},
  },
}

const CONNECTOR = `
import { ConnectorError, defineConnector, firstOf, paged } from 'keyway/sdk'

const account = (entry) => ({
  integration_specific_id: entry.dn,
  username: firstOf(entry, 'uid'),
  email: firstOf(entry, 'MAIL'),
  user_status: 'ACTIVE',
})
const people = (ctx) => ctx.ldap.dn(['ou', 'people'], ctx.settings.base_dn)

export default defineConnector({
  async validate_credentials(_request, ctx) {
    const { entries: [entry] } = await ctx.ldap.search({ scope: 'base', attributes: ['entryUUID'] })
    return { valid: true, unique_tenant_id: firstOf(entry, 'entryUUID') }
  },
  async list_accounts(_request, ctx) {
    const { entries, cursor } = await ctx.ldap.search({
      base: people(ctx),
      filter: { eq: ['objectClass', 'inetOrgPerson'] },
      page: { size: ctx.page.size, cursor: ctx.page.cursor },
    })
    return paged(entries.map(account), cursor)
  },
  async get_account({ account_id }, ctx) {
    const { entries: [entry] } = await ctx.ldap.search({ base: account_id, scope: 'base' })
    return account(entry)
  },
  async create_account({ username, password }, ctx) {
    const dn = ctx.ldap.dn(['uid', username], people(ctx))
    await ctx.ldap.add(dn, { objectClass: ['inetOrgPerson'], uid: [username], cn: [username], sn: [username], description: [password] })
    await ctx.ldap.password(dn, password)
    const { entries: [entry] } = await ctx.ldap.search({ base: dn, scope: 'base' })
    if (firstOf(entry, 'description') !== password) throw new ConnectorError('api_error', 'not echoed')
    ctx.log.info('read', { description: firstOf(entry, 'description') ?? '' })
    return { id: dn, status: 'ACTIVE', created: true }
  },
  async delete_account({ account_id }, ctx) {
    await ctx.ldap.delete(account_id)
    return { status: 'DELETED', deleted: true }
  },
})
`

describe.skipIf(noDirectory !== null)(`ctx.ldap${noDirectory ? ` (${noDirectory})` : ''}`, () => {
  let directory: Directory
  let host: TestHost

  beforeAll(async () => {
    directory = await startDirectory({ PAGE: '1000' })
    const hosts = [directory.url, directory.ldapsUrl].map((url) => `people=${new URL(url).host}`)
    host = await startHost({
      env: { KEYWAY_PRIVATE_EGRESS: hosts.join(' ') },
      connectors: {
        people: { 'connector.json': JSON.stringify(MANIFEST), 'connector.ts': CONNECTOR },
      },
    })
    await host.served('people', '1.0.0')
  }, 180_000)
  afterAll(async () => {
    await host?.stop()
    await directory?.stop()
  })

  const envelope = (request: object = {}, url = directory.url) => ({
    auth: { basic: { username: directory.auth.bindDn, password: directory.auth.password } },
    settings: { url, base_dn: directory.baseDn },
    request,
  })
  const people = () => `ou=people,${directory.baseDn}`

  test.each(['STARTTLS', 'ldaps:'])(
    "signs in over %s and returns the directory's own id",
    async (way) => {
      const url = way === 'ldaps:' ? directory.ldapsUrl : directory.url
      const answer = await host.call('people', 'validate_credentials', envelope({}, url))
      const { unique_tenant_id } = success<{ unique_tenant_id: string }>(answer.body)
      expect(unique_tenant_id).toMatch(/^[0-9a-f-]{36}$/)
    },
  )

  test('lists every account once, with a separate call for each page', async () => {
    const pages = await host.pages<{ username: string }>('people', 'list_accounts', envelope(), 25)
    const names = pages.flat().map(({ username }) => username)
    expect(pages.map(({ length }) => length)).toEqual([25, 25, 10])
    expect(new Set(names).size).toBe(60)
  })

  test('creates and deletes an account whose name has the special characters of a DN', async () => {
    const request = { username: 'ada,ou=x+y="z"', password: 'a-first-password', entitlements: [] }
    const created = await host.call('people', 'create_account', envelope(request))
    const { id } = success<{ id: string }>(created.body)
    expect(id).toBe(`uid=ada\\2Cou\\3Dx\\2By\\3D\\22z\\22,${people()}`)
    success((await host.call('people', 'delete_account', envelope({ account_id: id }))).body)
    expect(host.lines.join('\n')).not.toContain('a-first-password')
    const gone = await host.call('people', 'get_account', envelope({ account_id: id }))
    expect(failure(gone)).toMatchObject({
      error_code: 'not_found',
      app_error_code: 'noSuchObject',
      raised_by: 'LDAPError',
      // The message names the entry, since a call may read several.
      message: expect.stringContaining(`(the entry ${id})`),
    })
  })

  test('refuses entries outside the base, also by a DN from the caller', async () => {
    const request = { account_id: 'uid=user001,ou=people,dc=elsewhere,dc=test' }
    expect(failure(await host.call('people', 'delete_account', envelope(request)))).toMatchObject({
      error_code: 'permission_denied',
      raised_by: 'Keyway.EgressPolicy',
    })
  })

  test('reports a wrong password', async () => {
    const signed = envelope()
    signed.auth.basic.password = 'not the password'
    expect(failure(await host.call('people', 'list_accounts', signed))).toMatchObject({
      error_code: 'unauthenticated',
      app_error_code: 'invalidCredentials',
    })
  })
})
