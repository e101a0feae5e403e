/** Checks before a request is sent, common to directories and databases. Nothing listens at the address. */
import { afterEach, describe, expect, test } from 'vitest'
import { errorOf, manifestOf, openEgress, openedEgresses } from '../fixtures/open-egress.ts'
import { sealed } from '../fixtures/secrets.ts'

const BASE = 'dc=acme'
const AT = '127.0.0.1:1'

afterEach(async () => {
  for (const client of openedEgresses.splice(0)) await client.close()
})

const directory = { ldap: `ldaps://${AT}`, base: BASE, bind: { credential: 'login' } }
const database = {
  ...{ sql: `postgresql://${AT}`, dialect: 'postgresql', database: 'hr' },
  login: { credential: 'login' },
}
const statements = {
  after: { text: 'select 1 from notes where note > $1', parameters: ['string'], reads: true },
  note: { text: 'insert into notes values ({literal:note})' },
}

function opened(entry: object) {
  const basic = { username: 'keyway', password: 'the-password-of-the-login' }
  const secrets = sealed({
    credentials: { login: { basic }, other: { token: { token: 'other-token' } } },
  })
  const egress = [entry]
  const client = openEgress({
    egress,
    grants: `acme=${AT}`,
    call: { manifest: manifestOf(egress, { statements }), secrets },
  })
  return { client, held: secrets.sealed.credentials ?? {} }
}

type Bodies = Record<string, (secret: string) => object>
const WAYS: [string, object, string, Bodies][] = [
  [
    'a directory',
    directory,
    'ldap:',
    {
      SEARCH: (secret) => ({ filter: { ge: ['description', secret] } }),
      MODIFY: (secret) => ({ dn: BASE, changes: [{ replace: { description: [secret] } }] }),
      ADD: (secret) => ({ dn: `cn=x,${BASE}`, attributes: { description: [secret] } }),
      PASSWORD: (secret) => ({ dn: BASE, value: secret }),
    },
  ],
  [
    'a database',
    database,
    'sql:',
    {
      QUERY: (secret) => ({ statement: 'after', parameters: [secret] }),
      EXECUTE: (secret) => ({ statement: 'note', names: { note: secret } }),
    },
  ],
]

describe.each(WAYS)(
  'the secret of the login is refused in a request to %s',
  (_what, entry, url, bodies) => {
    test.each(Object.entries(bodies))('%s', async (method, bodyOf) => {
      const { client, held } = opened(entry)
      const ask = (secret: string) => {
        const body = Buffer.from(JSON.stringify(bodyOf(secret)))
        return errorOf(client.fetch({ url, method, headers: [], body, redirect: 'error' }))
      }
      const own = await ask(held['login']?.basic?.password ?? '')
      expect([own.code, own.message]).toEqual([
        'egress_secret',
        expect.stringMatching(/^The secret of login stands in no request to .*: the host signs in/),
      ])
      expect(client.records[0]).toMatchObject({ sent: false })
      // Other secrets, such as the first password of an account, are allowed.
      expect((await ask(held['other']?.token?.token ?? '')).code).toMatch(/^upstream_/)
    })
  },
)
