/**
 * Runs the WordPress connector end to end: through the host, its sandbox and its egress, against a real
 * WordPress.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noWordPress, startWordPress, type WordPress } from '../real-systems/wordpress.ts'
import { connectorClient } from './connector-client.ts'
import { failure, startHost, success, type TestHost } from './host.ts'
import { unpaced, unpacedId } from './unpaced.ts'

type Account = { integration_specific_id: string; username: string; email: string }
type Entitlement = { integration_specific_id: string; is_assignable: boolean }
type Association = { account_id: string; integration_specific_entitlement_id: string }
type Given = { username?: string; password?: string; settings?: object }

const id = unpacedId('wordpress')
const AUTHOR = { username: 'user001', password: 'AAAA BBBB CCCC DDDD EEEE FFFF' }
const PASSWORD = 'a-password-of-their-own'

describe.skipIf(noWordPress !== null)(
  `the WordPress connector${noWordPress ? ` (${noWordPress})` : ''}`,
  () => {
    let site: WordPress
    let host: TestHost

    beforeAll(async () => {
      site = await startWordPress()
      host = await startHost(await unpaced('wordpress', new URL(site.baseUrl).host))
    }, 180_000)
    afterAll(async () => {
      await host?.stop()
      await site?.stop()
    })

    const envelope = (request: object = {}, { settings, ...as }: Given = {}) => ({
      auth: { basic: { ...site.auth, ...as } },
      settings: { base_url: site.baseUrl, ...settings },
      request,
    })
    const { done, refused, together, all } = connectorClient(() => host, id, envelope)
    const role = (account: string, name: string, type = 'ROLE') => ({
      account_integration_specific_id: account,
      resource_integration_specific_id: '',
      resource_type: '',
      entitlement_type: type,
      entitlement_integration_specific_id: name,
    })
    const heldBy = async (account_id: string) =>
      (await done<Association[]>('get_account_entitlement_associations', { account_id }))
        .map((one) => one.integration_specific_entitlement_id)
        .sort()
    const numberOf = async (login: string) => String((await site.user(login))?.id)
    const someone = async (more: object = {}, username = `u-${randomUUID().slice(0, 8)}`) => {
      const request = { username, email: `${username}@example.com`, entitlements: [], ...more }
      return (await done<{ id: string }>('create_account', request)).id
    }
    const entitled = (...names: string[]) =>
      names.map((name) => ({ entitlement_type: 'ROLE', integration_specific_id: name }))

    test("identifies its tenant by the site's own address", async () => {
      const { host: home } = new URL(site.baseUrl)
      const settings = { base_url: site.baseUrl, permalinks: 'plain' }
      for (const given of [{}, { settings }])
        expect(await done('validate_credentials', {}, given)).toEqual({
          valid: true,
          unique_tenant_id: home,
        })
    })

    test.each([40, undefined])('lists every account exactly once in pages of %s', async (size) => {
      const accounts = await all<Account>('list_accounts', size)
      expect(accounts.map((one) => one.username)).toEqual([
        'admin',
        'keyway',
        ...Array.from({ length: 150 }, (_, at) => `user${String(at + 1).padStart(3, '0')}`),
      ])
      expect(accounts[4]).toMatchObject({
        email: 'user003@example.com',
        given_name: 'User003',
        family_name: 'Example',
        user_status: 'ACTIVE',
      })
    })

    test.each([3, undefined])('lists all roles and capabilities in pages of %s', async (size) => {
      const found = await all<Entitlement>('list_entitlements', size)
      expect(found.map((one) => [one.integration_specific_id, one.is_assignable])).toEqual([
        ['administrator', true],
        ['editor', true],
        ['author', true],
        ['contributor', true],
        ['subscriber', true],
        ['capability:export', false],
        ['shop_manager', true],
      ])
    })

    test('lists who has which entitlement', async () => {
      const held = await all<Association>('find_entitlement_associations', 50)
      const count = (name: string) =>
        held.filter((one) => one.integration_specific_entitlement_id === name).length
      // Every 25th user has no role: three with an even number, three with an odd one.
      expect({
        administrator: count('administrator'),
        subscriber: count('subscriber'),
        author: count('author'),
        editor: count('editor'),
        shop: count('shop_manager'),
        export: count('capability:export'),
      }).toEqual({
        administrator: 2,
        subscriber: 75 - 3,
        author: 75 - 3,
        editor: 15 - 3,
        shop: 1,
        export: 1,
      })
      expect(await heldBy(await numberOf('user003'))).toEqual(['author', 'capability:export'])
      expect(await heldBy(await numberOf('user010'))).toEqual(['editor', 'subscriber'])
      expect(await heldBy(await numberOf('user025'))).toEqual([])
    })

    test('returns names as they were given, although WordPress stores them as HTML', async () => {
      const names = { given_name: 'Müller & Söhne', family_name: 'O\'Neil "Q" &' }
      const user = await someone({ ...names, display_name: 'A & B > C' })
      expect(await done('get_account', { account_id: user })).toMatchObject({
        ...names,
        extra_data: { display_name: 'A & B > C' },
      })
      await done('update_account', { id: user, given_name: 'Huber & Co' })
      expect(await done('get_account', { account_id: user })).toMatchObject({
        given_name: 'Huber & Co',
      })
      await done('delete_account', { account_id: user })
    })

    test('supports the whole life cycle of an account', async () => {
      const username = `u-${randomUUID().slice(0, 8)}`
      const names = { given_name: 'Jörg', family_name: "O'Neil", display_name: 'Jörg 🚀' }
      const password = PASSWORD
      const user = await someone({ ...names, password }, username)
      expect(await heldBy(user)).toEqual([])
      expect(await site.signsIn(username, PASSWORD)).toBe(true)
      for (const name of ['editor', 'proofreader'])
        for (const _twice of [1, 2])
          expect(await done('assign_entitlement', role(user, name))).toEqual({ assigned: true })
      expect(await heldBy(user)).toEqual(['editor', 'proofreader'])

      await done('update_account', { id: user, email: `${username}@new.example`, password: 'p-2' })
      expect(await done('get_account', { account_id: user })).toMatchObject({
        email: `${username}@new.example`,
        given_name: 'Jörg',
        family_name: "O'Neil",
        extra_data: { display_name: 'Jörg 🚀' },
      })
      expect(await site.signsIn(username, PASSWORD)).toBe(false)
      expect(await site.signsIn(username, 'p-2')).toBe(true)

      for (const name of ['editor', 'proofreader']) {
        await together('unassign_entitlement', role(user, name))
        await together('assign_entitlement', role(user, name))
        for (const _twice of [1, 2])
          expect(await done('unassign_entitlement', role(user, name))).toEqual({ unassigned: true })
      }
      expect(await heldBy(user)).toEqual([])
      expect(await done('delete_account', { account_id: user })).toMatchObject({ deleted: true })
      expect(await site.user(username)).toBeUndefined()
      for (const capability of ['get_account', 'delete_account'])
        expect(await refused(capability, { account_id: user })).toMatchObject({
          error_code: 'not_found',
          status_code: 404,
          app_error_code: 'rest_user_invalid_id',
        })
    })

    test('keeps capabilities that are not roles, and loses none of several simultaneous changes', async () => {
      const user = await numberOf('user003')
      const names = ['editor', 'contributor', 'shop_manager']
      await Promise.all(names.map((name) => done('assign_entitlement', role(user, name))))
      expect(await heldBy(user)).toEqual(['author', 'capability:export', ...names].sort())
      await Promise.all(names.map((name) => done('unassign_entitlement', role(user, name))))
      expect(await heldBy(user)).toEqual(['author', 'capability:export'])
      for (const capability of ['assign_entitlement', 'unassign_entitlement'])
        expect(
          await refused(capability, role(user, 'capability:export', 'CAPABILITY')),
        ).toMatchObject({ error_code: 'unsupported_operation', app_error_code: 'no_role' })
    })

    test('creates an account with all roles, or none', async () => {
      const user = await someone({ entitlements: entitled('editor', 'author') })
      expect(await heldBy(user)).toEqual(['author', 'editor'])
      await done('delete_account', { account_id: user })

      const nobody = { username: 'nobody', email: 'nobody@example.com' }
      const entitlements = entitled('editor', 'no_such_role')
      expect(await refused('create_account', { ...nobody, entitlements })).toMatchObject({
        error_code: 'not_found',
        app_error_code: 'rest_user_invalid_role',
      })
      // A plugin that overrides roles.
      const meddling = "add_action('add_user_role', fn ($id) => (new WP_User($id))->set_role(''));"
      await site.with(meddling, async () =>
        expect(
          await refused('create_account', { ...nobody, entitlements: entitled('editor') }),
        ).toMatchObject({ error_code: 'api_error', message: expect.stringContaining('plugin') }),
      )
      expect(await site.user('nobody')).toBeUndefined()
    })

    test('reports a name that is taken, and whose account has it', async () => {
      const owner = await numberOf('user003')
      expect(
        await refused('create_account', {
          username: 'USER003',
          email: 'free@example.com',
          entitlements: [],
        }),
      ).toMatchObject({ error_code: 'api_error', app_error_code: 'existing_user_login' })
      const taken = {
        error_code: 'api_error',
        app_error_code: 'existing_user_email',
        message: expect.stringMatching(`It is the one of user ${owner}$`),
      }
      const email = 'User003@example.com'
      expect(
        await refused('create_account', { username: 'free', email, entitlements: [] }),
      ).toMatchObject(taken)
      const other = await numberOf('user005')
      expect(await refused('update_account', { id: other, email })).toMatchObject(taken)
    })

    test('reassigns the posts of a deleted user', async () => {
      const written = async (login: string) => {
        const author = await numberOf(login)
        const { body } = await site.ask(`/wp/v2/posts?author=${author}`)
        return (body as unknown[]).length
      }
      const write = (author: string) =>
        site.ask('/wp/v2/posts', {
          method: 'POST',
          body: JSON.stringify({ title: 'A post', status: 'publish', author }),
        })
      const before = { keyway: await written('keyway'), user007: await written('user007') }
      const [one, other] = [await someone(), await someone()]
      await write(one)
      await write(other)
      await done('delete_account', { account_id: one })
      expect(await written('keyway')).toBe(before.keyway + 1)
      const settings = { heir: await numberOf('user007') }
      await done('delete_account', { account_id: other }, { settings })
      expect(await written('user007')).toBe(before.user007 + 1)
      // Without a valid heir the user is not deleted.
      const third = await someone()
      expect(
        await refused('delete_account', { account_id: third }, { settings: { heir: '99999' } }),
      ).toMatchObject({ error_code: 'bad_request', app_error_code: 'rest_user_invalid_reassign' })
      expect(
        await refused('delete_account', { account_id: third }, { settings: { heir: third } }),
      ).toMatchObject({ error_code: 'unsupported_operation', app_error_code: 'heir' })
      await done('delete_account', { account_id: third })
    })

    test('neither deletes nor demotes its own account and the last administrator', async () => {
      const own = await numberOf('keyway')
      for (const [capability, request] of [
        ['delete_account', { account_id: own }],
        ['unassign_entitlement', role(own, 'administrator')],
      ] as const)
        expect(await refused(capability, request)).toMatchObject({
          error_code: 'unsupported_operation',
          app_error_code: 'own_account',
        })
      // Signs in as a user with the same capabilities by another role, while there is one administrator.
      const chief =
        "add_filter('user_has_cap', fn ($all, $c, $a, $user) => $user->user_login === 'user001' ? $all + get_role('administrator')->capabilities : $all, 10, 4);"
      const admin = await numberOf('admin')
      await site.ask(`/wp/v2/users/${own}`, {
        method: 'POST',
        body: '{"roles":["editor","administrator"]}',
      })
      await site.with(chief, async () => {
        expect(await done('unassign_entitlement', role(admin, 'administrator'), AUTHOR)).toEqual({
          unassigned: true,
        })
        for (const [capability, request] of [
          ['delete_account', { account_id: own }],
          ['unassign_entitlement', role(own, 'administrator')],
        ] as const)
          expect(await refused(capability, request, AUTHOR)).toMatchObject({
            error_code: 'unsupported_operation',
            app_error_code: 'last_administrator',
          })
      })
      await done('assign_entitlement', role(admin, 'administrator'))
    })

    test.each<[string, string, (some: string) => object, object]>([
      [
        'an unknown account',
        'get_account',
        () => ({ account_id: '99999' }),
        { error_code: 'not_found' },
      ],
      [
        'a reserved word of the API',
        'get_account',
        () => ({ account_id: 'me' }),
        { error_code: 'not_found' },
      ],
      [
        'an unknown account of a role',
        'assign_entitlement',
        () => role('99999', 'editor'),
        { error_code: 'not_found' },
      ],
      [
        'an unknown role',
        'assign_entitlement',
        (some) => role(some, 'no_such_role'),
        { error_code: 'not_found' },
      ],
      [
        'an unknown type of entitlement',
        'assign_entitlement',
        (some) => role(some, 'x', 'TAG'),
        { error_code: 'bad_request' },
      ],
      [
        'an empty update',
        'update_account',
        (some) => ({ id: some }),
        { error_code: 'bad_request' },
      ],
      [
        'an invalid address',
        'update_account',
        (some) => ({ id: some, email: 'none' }),
        { error_code: 'bad_request' },
      ],
      [
        'a password with a backslash',
        'update_account',
        (some) => ({ id: some, password: 'a\\bcdefgh' }),
        { error_code: 'bad_request' },
      ],
      [
        'no address',
        'create_account',
        () => ({ username: 'x', entitlements: [] }),
        { error_code: 'integration_missing_parameter' },
      ],
      [
        'a name with a slash',
        'create_account',
        () => ({ username: 'a/b', email: 'ab@example.com', entitlements: [] }),
        { error_code: 'bad_request' },
      ],
      [
        'a name that is too long',
        'create_account',
        () => ({ username: 'x'.repeat(61), email: 'x61@example.com', entitlements: [] }),
        { error_code: 'bad_request', app_error_code: 'user_login_too_long' },
      ],
      [
        'a new account that is suspended',
        'create_account',
        () => ({
          username: 'off',
          email: 'off@example.com',
          user_status: 'SUSPENDED',
          entitlements: [],
        }),
        { error_code: 'unsupported_operation' },
      ],
    ])('reports %s with its error code', async (_what, capability, request, expected) => {
      const some = await numberOf('user009')
      expect(await refused(capability, request(some))).toMatchObject(expected)
    })

    test('reports why credentials are refused', async () => {
      for (const capability of ['validate_credentials', 'list_accounts']) {
        for (const given of [{ password: 'wrong wrong' }, { username: 'nobody' }])
          expect(await refused(capability, {}, given)).toMatchObject({
            error_code: 'unauthenticated',
            status_code: 401,
          })
        expect(await refused(capability, {}, AUTHOR)).toMatchObject({
          error_code: 'permission_denied',
        })
      }
      const off = "add_filter('wp_is_application_passwords_available', '__return_false');"
      const dropped = "unset($_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW']);"
      for (const fault of [off, dropped])
        await site.with(fault, async () =>
          expect(await refused('list_accounts')).toMatchObject({
            error_code: 'unauthenticated',
            status_code: 401,
            message: expect.stringContaining('application password'),
          }),
        )
    })

    test('refuses a list from which WordPress hides users', async () => {
      const hidden =
        "add_filter('map_meta_cap', fn ($caps, $cap, $me, $args) => $cap === 'edit_user' && ($args[0] ?? 0) === 7 ? ['do_not_allow'] : $caps, 10, 4);"
      await site.with(hidden, async () => {
        for (const capability of ['list_accounts', 'find_entitlement_associations'])
          expect(await refused(capability)).toMatchObject({
            error_code: 'permission_denied',
            message: expect.stringContaining('keeps 1 users'),
          })
      })
    })

    test.each([
      [
        'text before the JSON',
        "echo '<br /><b>Warning</b>: Undefined variable';",
        'invalid_response',
        'WP_DEBUG_DISPLAY',
      ],
      [
        'an HTML page in place of JSON',
        "add_action('parse_request', function () { echo '<html>Home</html>'; exit; }, 1);",
        'invalid_response',
        'permalinks',
      ],
      ['a broken plugin', 'throw new Exception();', 'api_error', '[500]'],
      [
        'no route for users',
        "add_filter('rest_endpoints', fn ($all) => array_filter($all, fn ($at) => !str_contains($at, 'users'), ARRAY_FILTER_USE_KEY));",
        'unsupported_operation',
        'plugin',
      ],
      [
        'too many requests',
        "status_header(429); header('Retry-After: 900'); exit;",
        'rate_limit',
        '900',
      ],
      [
        'maintenance',
        "status_header(503); header('Retry-After: 900'); echo 'Briefly unavailable'; exit;",
        'service_error',
        'Briefly',
      ],
    ])('reports %s with the error code and the cause', async (_what, php, error_code, message) => {
      // A separate tenant: after Retry-After, all requests of a tenant wait.
      const settings = { heir: String(php.length) }
      await site.with(php, async () =>
        expect(await refused('list_accounts', {}, { settings })).toMatchObject({
          error_code,
          message: expect.stringContaining(message),
        }),
      )
    })

    test('misses no account when another is deleted between two pages', async () => {
      const gone = await someone()
      const last = await someone()
      const before = await all<Account>('list_accounts')
      const size = before.length - 1
      const { body } = await host.call(id, 'list_accounts', { ...envelope(), page: { size: 20 } })
      const first = success<Account[]>(body)
      await site.ask(`/wp/v2/users/${await numberOf('user001')}?force=true&reassign=1`, {
        method: 'DELETE',
      })
      const rest: Account[] = []
      let { token } = body.page ?? { token: null }
      while (token !== null) {
        const { body: next } = await host.call(id, 'list_accounts', {
          ...envelope(),
          page: { size: 20, token },
        })
        rest.push(...success<Account[]>(next))
        token = next.page?.token ?? null
      }
      expect([...first, ...rest]).toEqual(before)
      expect(await all<Account>('list_accounts')).toHaveLength(size)
      for (const account_id of [gone, last]) await done('delete_account', { account_id })
    })

    test.each([
      ['an address', { email: `${'e'.repeat(60)}@${'d'.repeat(60)}.com` }],
      ['a display name', { display_name: `${'&'.repeat(49)}123456` }],
    ])('refuses %s that WordPress would not store', async (_what, change) => {
      const user = await someone()
      const before = await done<Account>('get_account', { account_id: user })
      for (const refusal of [
        await refused('update_account', { id: user, given_name: 'Other', ...change }),
        await refused('create_account', {
          ...{ username: `u-${randomUUID().slice(0, 8)}`, email: 'long@example.com' },
          ...{ entitlements: [], ...change },
        }),
      ])
        expect(refusal.error_code).toBe('invalid_value')
      expect(await done<Account>('get_account', { account_id: user })).toEqual(before)
      await done('delete_account', { account_id: user })
    })

    test('refuses names from which WordPress would build a display name that it cannot store', async () => {
      const long = { given_name: 'g'.repeat(125), family_name: 'f'.repeat(125) }
      const request = { username: 'long', email: 'long@example.com', entitlements: [] }
      expect(await refused('create_account', { ...request, ...long })).toMatchObject({
        error_code: 'invalid_value',
      })
      const user = await someone({ ...long, display_name: 'z'.repeat(250) })
      expect(await done('get_account', { account_id: user })).toMatchObject({
        ...long,
        extra_data: { display_name: 'z'.repeat(250) },
      })
      await done('delete_account', { account_id: user })
    })

    test('never returns or logs a password', async () => {
      const user = await someone({ password: PASSWORD })
      for (const [capability, request] of [
        ['get_account', { account_id: user }],
        ['update_account', { id: user, password: PASSWORD }],
      ] as const) {
        const { body } = await host.call(id, capability, {
          ...envelope(request),
          include_raw_data: true,
        })
        success(body)
        expect(JSON.stringify(body)).not.toContain(PASSWORD)
      }
      expect(host.lines.join('\n')).not.toContain(PASSWORD)
      await done('delete_account', { account_id: user })
    })

    test('reports that the server became unavailable between two pages', async () => {
      const { body } = await host.call(id, 'list_accounts', { ...envelope(), page: { size: 20 } })
      success(body)
      await site.stop()
      expect(
        failure(
          await host.call(id, 'list_accounts', {
            ...envelope(),
            page: { size: 20, token: body.page?.token },
          }),
        ),
      ).toMatchObject({ error_code: 'connection_rejected' })
    })
  },
)
