/** Tests the LDAP connector end to end against misconfigured servers. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Directory, noDirectory, startAnother } from '../egress/ldap/directory.ts'
import { type Answer, failure, startHost, success, type TestHost } from './host.ts'

const FAULTS = {
  expired: { TLS_FAULT: 'expired' },
  renamed: { TLS_FAULT: 'name' },
  outdated: { EXPIRED: '1' },
  strict: { REQUIRE_TLS: '1', PAGE: '25' },
}
type Fault = keyof typeof FAULTS

describe.skipIf(noDirectory !== null)(
  `the LDAP connector${noDirectory ? ` (${noDirectory})` : ''}`,
  () => {
    const directories = {} as Record<Fault, Directory>
    let host: TestHost

    beforeAll(async () => {
      for (const [name, env] of Object.entries(FAULTS))
        directories[name as Fault] = await startAnother(env)
      const all = Object.values(directories).flatMap(({ url, ldapsUrl }) => [url, ldapsUrl])
      const strict = new URL(directories.strict.url).host
      host = await startHost({
        env: {
          KEYWAY_PRIVATE_EGRESS: all.map((url) => `ldap=${new URL(url).host}`).join(' '),
          KEYWAY_PLAIN_LDAP: `ldap=${strict}`,
        },
      })
    }, 180_000)
    afterAll(async () => {
      await host?.stop()
      for (const one of Object.values(directories)) await one.stop()
    })

    const call = (
      { auth, baseDn }: Directory,
      url: string,
      capability: string,
      page?: object,
    ): Promise<Answer> =>
      host.call('ldap', capability, {
        auth: { basic: { username: auth.bindDn, password: auth.password } },
        settings: { url, people_dn: `ou=people,${baseDn}`, groups_dn: `ou=groups,${baseDn}` },
        request: {},
        ...(page ? { page } : {}),
      })

    test.each<[Fault, 'url' | 'ldapsUrl', RegExp]>([
      ['expired', 'url', /expired/],
      ['expired', 'ldapsUrl', /expired/],
      ['renamed', 'url', /another name/],
      ['renamed', 'ldapsUrl', /another name/],
    ])('refuses a server whose certificate is %s (%s)', async (fault, way, message) => {
      const directory = directories[fault]
      expect(failure(await call(directory, directory[way], 'validate_credentials'))).toMatchObject({
        error_code: 'connection_rejected',
        message: expect.stringMatching(message),
      })
    })

    test('reports that the password of its account has expired', async () => {
      const { outdated } = directories
      const other = { bindDn: outdated.auth.bindDn.replace('connector', 'reader') }
      const reader = { ...outdated, auth: { ...other, password: 'reader-secret' } }
      success((await call(reader, outdated.ldapsUrl, 'list_accounts', { size: 20 })).body)
      for (const capability of ['validate_credentials', 'list_accounts'])
        expect(failure(await call(outdated, outdated.ldapsUrl, capability))).toMatchObject({
          error_code: 'unauthenticated',
          app_error_code: 'invalidCredentials',
        })
    })

    test('reports that a server requires TLS if the operator allows plain text', async () => {
      const { strict } = directories
      expect(failure(await call(strict, strict.url, 'validate_credentials'))).toMatchObject({
        error_code: 'connection_rejected',
        app_error_code: 'confidentialityRequired',
      })
    })

    test('reports that a server became unavailable between two pages', async () => {
      const { strict } = directories
      const first = await call(strict, strict.ldapsUrl, 'list_accounts', { size: 20 })
      expect(success<object[]>(first.body)).toHaveLength(20)
      await strict.stop()
      const page = { size: 20, token: first.body.page?.token }
      const second = failure(await call(strict, strict.ldapsUrl, 'list_accounts', page))
      expect(['connection_rejected', 'service_error']).toContain(second.error_code)
      expect(second.message).toContain(new URL(strict.ldapsUrl).host)
    })
  },
)
