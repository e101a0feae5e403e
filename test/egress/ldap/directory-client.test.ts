import { connect, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Attribute, Change, Client } from 'ldapts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { LdapEntry } from '../../../runtime/contract/connector/ldap-context.ts'
import type { EgressCall } from '../../../runtime/egress/call/call.ts'
import { eventually } from '../../kit/eventually.ts'
import { errorOf, openedEgresses } from '../fixtures/open-egress.ts'
import { startTcp, stopAll } from '../fixtures/upstream.ts'
import { type Directory, egressTo, ldap, noDirectory, startDirectory } from './directory.ts'

/** Bytes of reachable buffers. */
async function buffersHeld(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  for (let n = 0; n < 3; n += 1) {
    collect()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return process.memoryUsage().arrayBuffers
}

const title = noDirectory === null ? 'OpenLDAP' : `OpenLDAP: ${noDirectory}`

describe.skipIf(noDirectory !== null)(title, () => {
  let directory: Directory
  const people = () => `ou=people,${directory.baseDn}`
  const group = (name: string) => `cn=${name},ou=groups,${directory.baseDn}`
  const person = (uid: string) => `uid=${uid},${people()}`

  beforeAll(async () => {
    directory = await startDirectory({ PAGE: '1000' })
  })
  afterEach(async () => {
    for (const client of openedEgresses.splice(0)) await client.close()
  })
  afterAll(() => directory?.stop())

  const ask = async (method: string, body: object, client = egressTo(directory)) =>
    JSON.parse(String((await client.fetch(ldap(method, body))).body))

  const uids = (entries: LdapEntry[]) =>
    entries.map(({ attributes }) => attributes['uid']?.[0] ?? '')

  test('finds entries by a structured filter', async () => {
    const found = await ask('SEARCH', {
      base: people(),
      filter: {
        and: [{ eq: ['objectClass', 'inetOrgPerson'] }, { startsWith: ['uid', 'user00'] }],
      },
      attributes: ['uid', 'mail'],
    })
    expect(found.result).toBe('success')
    expect(uids(found.entries)).toContain('user001')
    expect(found.entries[0].attributes).toHaveProperty('mail')
    expect(found.cursor).toBeNull()
  })

  test('reports noSuchObject for a name with half of a character', async () => {
    const dn = person('\ud800')
    for (const [method, body] of [
      ['SEARCH', { base: dn, scope: 'base' }],
      ['DELETE', { dn }],
    ] as const)
      expect((await errorOf(ask(method, body))).details.appErrorCode).toBe('noSuchObject')
  })

  test('never reads a value as filter syntax', async () => {
    const found = await ask('SEARCH', {
      base: people(),
      filter: { eq: ['uid', '*)(objectClass=*'] },
    })
    expect(found.entries).toEqual([])
  })

  test('reads every page once, on the connection that the search began on', async () => {
    const client = egressTo(directory)
    const all: string[] = []
    let cursor: string | null = null
    do {
      const page = { size: 20, cursor }
      const found = await ask(
        'SEARCH',
        { base: people(), filter: { present: 'uid' }, page },
        client,
      )
      all.push(...uids(found.entries))
      cursor = found.cursor
    } while (cursor !== null)
    expect(all).toHaveLength(60)
    expect(new Set(all).size).toBe(60)
    expect(client.records).toHaveLength(3)
  })

  test('continues a search on another connection after its own was closed', async () => {
    const page = (cursor: string | null) => ({
      base: people(),
      filter: { present: 'uid' },
      page: { size: 20, cursor },
    })
    const first = await ask('SEARCH', page(null))
    for (const client of openedEgresses.splice(0)) await client.close()
    const second = await ask('SEARCH', page(first.cursor))
    expect(uids(second.entries)).toHaveLength(20)
    expect(uids(first.entries)).not.toEqual(expect.arrayContaining(uids(second.entries)))
  })

  test('continues a search in pages of another size, also on another connection', async () => {
    const all: string[] = []
    let cursor: string | null = null
    for (const [at, size] of [7, 3, 20, 1, 20, 9].entries()) {
      const page = { size, cursor }
      const found = await ask('SEARCH', { base: people(), filter: { present: 'uid' }, page })
      expect(found.entries).toHaveLength(size)
      all.push(...uids(found.entries))
      cursor = found.cursor
      if (at % 2 === 1) for (const client of openedEgresses.splice(0)) await client.close()
    }
    expect(cursor).toBeNull()
    expect(new Set(all).size).toBe(60)
  })

  /** A relay before the directory that counts connections and requests, and can close all connections. */
  async function relayed(call: Partial<EgressCall> = {}) {
    const { hostname, port } = new URL(directory.url)
    const sockets = new Set<Socket>()
    const seen = { connections: 0, requests: 0 }
    const relay = await startTcp((socket) => {
      const server = connect(Number(port), hostname, () => server.pipe(socket))
      seen.connections += 1
      sockets.add(socket)
      socket.on('close', () => {
        sockets.delete(socket)
        server.destroy()
      })
      server.on('close', () => socket.destroy())
      socket.on('data', (bytes: Buffer) => {
        seen.requests += 1
        server.write(bytes)
      })
    })
    const client = egressTo({ ...directory, url: `ldap://127.0.0.1:${relay}` }, { call })
    const end = () => {
      for (const socket of sockets) socket.destroy()
    }
    return { client, seen, end, open: () => sockets.size }
  }
  const twenty = (page: object) => ({
    base: people(),
    filter: { present: 'uid' },
    page: { size: 20, ...page },
  })

  test('prefetches the next page, and reads each page once', async () => {
    const { client, seen } = await relayed()
    const all: string[] = []
    let cursor: string | null = null
    for (const requests of [3, 4, 4]) {
      const found = await ask('SEARCH', twenty({ cursor, ahead: 20 }), client)
      all.push(...uids(found.entries))
      cursor = found.cursor
      // A bind, the pages so far, and the next one.
      await expect.poll(() => seen.requests).toBe(requests)
    }
    expect([cursor, new Set(all).size]).toEqual([null, 60])
    expect(seen.connections).toBe(1)
    expect(client.records).toHaveLength(3)
    await stopAll()
  })

  test.each([
    ['of another size', { size: 7 }],
    ['of other attributes', { attributes: ['uid', 'cn'] }],
  ])('reads a page %s than the prefetched one, on another connection', async (_what, change) => {
    const { client, seen } = await relayed()
    const whole = await ask('SEARCH', twenty({ size: 60 }), client)
    const { cursor } = await ask('SEARCH', twenty({ ahead: 20 }), client)
    const { size = 20, ...more } = change as { size?: number }
    const found = await ask('SEARCH', { ...twenty({ size, cursor }), ...more }, client)
    expect(uids(found.entries)).toEqual(uids(whole.entries).slice(20, 20 + size))
    expect(seen.connections).toBe(2)
    await stopAll()
  })

  test('keeps a prefetched page when one entry is read with the cursor of its search', async () => {
    const { client } = await relayed()
    const whole = await ask('SEARCH', twenty({ size: 60 }), client)
    const { cursor } = await ask('SEARCH', twenty({ ahead: 20 }), client)
    const one = await ask('SEARCH', { base: people(), scope: 'base', page: { cursor } }, client)
    expect(one.entries.map(({ dn }: LdapEntry) => dn)).toEqual([people()])
    const found = await ask('SEARCH', twenty({ cursor }), client)
    expect(uids(found.entries)).toEqual(uids(whole.entries).slice(20, 40))
    await stopAll()
  })

  test('requests a prefetched page again when its connection was closed', async () => {
    const { client, end } = await relayed()
    const { cursor } = await ask('SEARCH', twenty({ ahead: 20 }), client)
    end()
    const found = await ask('SEARCH', twenty({ cursor, ahead: 20 }), client)
    expect(uids(found.entries)).toHaveLength(20)
    await stopAll()
  })

  test('sends no other request on a connection that prefetches a page', async () => {
    const { client, seen } = await relayed()
    for (let n = 0; n < 10; n += 1) await ask('SEARCH', twenty({ ahead: 20 }), client)
    expect(seen.connections).toBe(10)
    expect((await ask('SEARCH', { base: people(), scope: 'base' }, client)).entries).toHaveLength(1)
    await stopAll()
  })

  test('releases the buffers of pages that were read, while their connections stay open', async () => {
    const client = egressTo(directory)
    const page = () =>
      client.fetch(ldap('SEARCH', { base: `ou=bulk,${directory.baseDn}`, page: { size: 1000 } }))
    const { length } = (await page()).body ?? []
    const before = await buffersHeld()
    for (let n = 0; n < 7; n += 1) await page()
    // A connection itself takes less than half of a page.
    expect((await buffersHeld()) - before).toBeLessThan((7 * length) / 2)
  })

  test('reports a connection that closes within a page, and searches again on another one', async () => {
    const { hostname, port } = new URL(directory.url)
    let given = 0
    const relay = await startTcp((socket) => {
      const server = connect(Number(port), hostname, () => socket.pipe(server))
      socket.on('close', () => server.destroy())
      server.on('data', (bytes: Buffer) => {
        const left = 20_000 - given
        given += bytes.length
        socket.write(left > 0 ? bytes.subarray(0, left) : bytes)
        // Cut once, within an entry of the page.
        if (left > 0 && bytes.length > left) socket.destroySoon()
      })
    })
    const client = egressTo({ ...directory, url: `ldap://127.0.0.1:${relay}` })
    const bulk = { base: `ou=bulk,${directory.baseDn}`, attributes: ['uid'], page: { size: 1000 } }
    expect((await errorOf(ask('SEARCH', bulk, client))).code).toBe('upstream_closed')
    expect((await ask('SEARCH', bulk, client)).entries).toHaveLength(1000)
    await stopAll()
  })

  test('refuses an entry larger than the limit of a reply', async () => {
    const admin = new Client({ url: directory.url })
    await admin.bind(`cn=admin,${directory.baseDn}`, 'admin-secret')
    const dn = `cn=fat,ou=bulk,${directory.baseDn}`
    await admin.add(dn, { objectClass: 'inetOrgPerson', cn: 'fat', sn: 'fat' })
    for (let n = 0; n < 6; n += 1) {
      const modification = new Attribute({
        type: 'description',
        values: [`${n}`.repeat(3_000_000)],
      })
      await admin.modify(dn, new Change({ operation: 'add', modification }))
    }
    const error = await errorOf(ask('SEARCH', { base: dn, scope: 'base' }))
    await admin.del(dn)
    await admin.unbind()
    expect([error.code, error.message]).toEqual([
      'upstream_too_large',
      expect.stringMatching(/fewer attributes/),
    ])
  })

  test('refuses an unknown cursor', async () => {
    const page = { size: 20, cursor: '00000000-0000-0000-0000-000000000000 7000' }
    const error = await errorOf(ask('SEARCH', { base: people(), page }))
    expect(error.details.wire).toBe('invalid_page_token')
  })

  test('adds, changes, moves and deletes entries', async () => {
    const client = egressTo(directory)
    const attributes = {
      objectClass: ['inetOrgPerson'],
      cn: ['New One'],
      sn: ['One'],
      uid: ['new1'],
    }
    await ask('ADD', { dn: person('new1'), attributes }, client)
    await ask(
      'MODIFY',
      { dn: person('new1'), changes: [{ replace: { sn: ['Two'] } }, { add: { title: ['Lead'] } }] },
      client,
    )
    await ask('PASSWORD', { dn: person('new1'), value: 'a-good-password' }, client)
    const user = { bindDn: person('new1'), password: 'a-good-password' }
    const own = await ask(
      'SEARCH',
      { base: person('new1'), scope: 'base' },
      egressTo(directory, { user }),
    )
    expect(own.entries[0].attributes).toMatchObject({ sn: ['Two'], title: ['Lead'] })
    await ask('MOVE', { dn: person('new1'), to: `uid=new\\2C2,${people()}` }, client)
    const moved = await ask('SEARCH', { base: people(), filter: { eq: ['uid', 'new,2'] } }, client)
    expect(moved.entries).toHaveLength(1)
    await ask('DELETE', { dn: moved.entries[0].dn }, client)
    expect(client.hasWritten()).toBe(true)
    const gone = await errorOf(ask('SEARCH', { base: moved.entries[0].dn, scope: 'base' }, client))
    expect(gone.details).toMatchObject({ wire: 'not_found', appErrorCode: 'noSuchObject' })
  })

  test('does not count a search as a write', async () => {
    const client = egressTo(directory)
    await ask('SEARCH', { base: people(), scope: 'base' }, client)
    expect(client.hasWritten()).toBe(false)
  })

  test.each([
    ['a search', 'SEARCH', { base: 'dc=elsewhere,dc=test' }],
    ['the root DSE', 'SEARCH', { base: '', scope: 'base' }],
    ['a sibling whose name ends alike', 'SEARCH', { base: 'ou=other people,dc=example,dc=test' }],
    ['an entry', 'DELETE', { dn: 'uid=a,dc=elsewhere,dc=test' }],
    [
      'an escaped comma that looks like the base',
      'DELETE',
      { dn: 'uid=a\\,ou=people\\,dc=example' },
    ],
    [
      'the target of a move',
      'MOVE',
      { dn: 'uid=user001,ou=people,dc=example,dc=test', to: 'uid=a,dc=test' },
    ],
    [
      'a member',
      'MODIFY',
      {
        dn: 'cn=solo,ou=people,dc=example,dc=test',
        changes: [{ add: { MEMBER: ['uid=a,dc=elsewhere,dc=test'] } }],
      },
    ],
    [
      'a member by the OID of its attribute',
      'MODIFY',
      {
        dn: 'cn=solo,ou=people,dc=example,dc=test',
        changes: [{ add: { '2.5.4.31': ['uid=a,dc=elsewhere,dc=test'] } }],
      },
    ],
    [
      'a member in the name of an added entry',
      'ADD',
      {
        dn: 'cn=x+member=uid\\=a\\,dc\\=elsewhere,ou=people,dc=example,dc=test',
        attributes: { objectClass: ['groupOfNames'] },
      },
    ],
    [
      'a member in the new name of an entry',
      'MOVE',
      {
        dn: 'cn=solo,ou=people,dc=example,dc=test',
        to: 'cn=solo+2.5.4.31=uid\\=a\\,dc\\=elsewhere,ou=people,dc=example,dc=test',
      },
    ],
    [
      'the target of an alias',
      'ADD',
      {
        dn: 'cn=x,ou=people,dc=example,dc=test',
        attributes: { objectClass: ['alias'], aliasedObjectName: ['uid=a,dc=elsewhere,dc=test'] },
      },
    ],
    ...['pwdPolicySubentry', 'nsRoleDN', 'memberManager', 'publicDelegates'].map(
      (name): [string, string, object] => [
        `a value of ${name}`,
        'MODIFY',
        {
          dn: 'uid=user001,ou=people,dc=example,dc=test',
          changes: [{ replace: { [name]: ['cn=a,dc=elsewhere,dc=test'] } }],
        },
      ],
    ),
  ])('refuses %s outside the base before anything is sent', async (_what, method, body) => {
    const client = egressTo(directory, { entry: { base: 'ou=people,dc=example,dc=test' } })
    const error = await errorOf(ask(method, body, client))
    expect(['egress_undeclared', 'egress_url']).toContain(error.code)
    expect(client.records[0]).toMatchObject({ sent: false })
    expect(client.hasWritten()).toBe(false)
  })

  test.each([
    ['DELETE', { dn: 'user001' }],
    ['MODIFY', { dn: 'ou=people,dc=example,dc=test', changes: [{ add: { member: ['user001'] } }] }],
    ['SEARCH', { scope: 'subtree' }],
  ])('reports a mistake of the code as such, and sends nothing: %s %j', async (method, body) => {
    const client = egressTo(directory, {})
    const error = await errorOf(ask(method, body, client))
    expect(error.code).toBe('context_misused')
    expect(error.message).toMatch(/ctx\.ldap/)
    expect(client.records[0]).toMatchObject({ sent: false })
  })

  test('allows members below declared references', async () => {
    const entry = { base: `ou=groups,${directory.baseDn}`, references: [people()] }
    const client = egressTo(directory, { entry })
    const changes = [{ add: { member: [person('user009')] } }]
    await ask('MODIFY', { dn: group('solo'), changes }, client)
    const again = await errorOf(ask('MODIFY', { dn: group('solo'), changes }, client))
    expect(again.details).toMatchObject({
      wire: 'bad_request',
      appErrorCode: 'attributeOrValueExists',
    })
    await ask(
      'MODIFY',
      { dn: group('solo'), changes: [{ delete: { member: [person('user009')] } }] },
      client,
    )
  })

  const PEOPLE = 'ou=people,dc=example,dc=test'
  test.each<[string, string | { base64: string }, boolean]>([
    ['memberURL', `ldap:///${PEOPLE}??sub?(uid=*)`, true],
    ['memberURL', 'ldap:///ou=people,dc=example,dc=test%20??sub', true],
    ['memberURL', 'ldap:///ou=vault,dc=example,dc=test??sub', false],
    ['memberUrl', `ldap:///ou%3Dvault,dc=example,dc=test?x?sub`, false],
    ['memberURL;x-a', `ldap://elsewhere.example/${PEOPLE}??sub`, false],
    ['memberURL', ' LDAPS:///dc=test??sub', false],
    ['memberURL', 'ldap:///??sub?(objectClass=*)', false],
    ['memberURL', 'ldap:', false],
    ['memberURL', 'ldap:///%zz', false],
    ['memberURL', { base64: Buffer.from('ldap:///dc=test??sub').toString('base64') }, false],
    ['labeledURI', 'ldap:///dc=example,dc=test?member', false],
    ['ref', 'ldap://elsewhere.example/dc=x', false],
  ])('restricts URLs in attributes to the base: %s %j', async (name, value, passes) => {
    const client = egressTo(directory, { entry: { base: PEOPLE } })
    const body = { dn: person('user001'), changes: [{ add: { [name]: [value] } }] }
    const error = await errorOf(ask('MODIFY', body, client))
    // The server itself has none of these attributes for people.
    expect(error.code).toBe(passes ? 'directory_refused' : 'egress_undeclared')
  })

  test('refuses an operation that is not declared', async () => {
    const client = egressTo(directory, { entry: { operations: ['search'] } })
    const error = await errorOf(ask('DELETE', { dn: person('user001') }, client))
    expect(error).toMatchObject({ code: 'egress_undeclared' })
  })

  test.each([
    ['ADD', { attributes: { uid: ['user001'], UserPassword: ['x'] } }],
    ['MODIFY', { changes: [{ replace: { 'userPassword;x-a': ['x'] } }] }],
    ['MODIFY', { changes: [{ add: { unicodePwd: [{ base64: 'eA==' }] } }] }],
  ])('refuses a password by %s %j where passwords are not declared', async (method, body) => {
    const operations = ['search', 'add', 'modify']
    const client = egressTo(directory, { entry: { operations } })
    const error = await errorOf(ask(method, { dn: person('user001'), ...body }, client))
    expect(error).toMatchObject({ code: 'egress_undeclared' })
    expect(error.message).toMatch(/Add "password" to its "operations"/)
  })

  test('reports referrals and follows none', async () => {
    const found = await ask('SEARCH', { base: directory.baseDn, scope: 'one', attributes: ['ou'] })
    expect(found.referrals).toEqual([expect.stringContaining('ldap://branch.invalid/')])
    const error = await errorOf(ask('SEARCH', { base: `cn=x,ou=branch,${directory.baseDn}` }))
    expect(error.details).toMatchObject({ wire: 'unsupported_operation', appErrorCode: 'referral' })
  })

  test.each([
    ['busy', 'rate_limit', 'busy'],
    ['unavailable', 'service_error', 'unavailable'],
  ])('reports that the directory is %s', async (name, wire, code) => {
    const dn = `cn=${name},ou=answers,${directory.baseDn}`
    const error = await errorOf(ask('SEARCH', { base: dn, scope: 'base' }))
    expect(error).toMatchObject({
      code: 'directory_refused',
      details: { wire, appErrorCode: code },
    })
  })

  test('ends a request whose call has ended, and closes its connection', async () => {
    const ending = new AbortController()
    const { client, open } = await relayed({ signal: ending.signal })
    const base = `cn=slow,ou=answers,${directory.baseDn}`
    const slow = errorOf(client.fetch(ldap('SEARCH', { base, scope: 'base' })))
    await expect.poll(() => client.records[0]?.sent).toBe(true)
    expect(open()).toBe(1)
    ending.abort()
    expect((await slow).code).toBe('upstream_timeout')
    await eventually(() => expect(open()).toBe(0))
    await stopAll()
  })

  test('reports a wrong password as unauthenticated', async () => {
    const user = { bindDn: directory.auth.bindDn, password: 'wrong' }
    const error = await errorOf(ask('SEARCH', {}, egressTo(directory, { user })))
    expect(error.details).toMatchObject({
      wire: 'unauthenticated',
      appErrorCode: 'invalidCredentials',
    })
  })

  test('shows what a bind name looks like when it is not a DN', async () => {
    const user = { bindDn: 'ada', password: 'wrong' }
    const error = await errorOf(ask('SEARCH', {}, egressTo(directory, { user })))
    expect(error.details.appErrorCode).toBe('invalidDNSyntax')
    expect(error.message).toMatch(/no DN such as cn=keyway,dc=acme,dc=example/)
  })

  test('never binds with an empty password, which would be anonymous', async () => {
    const user = { bindDn: directory.auth.bindDn, password: '' }
    const error = await errorOf(ask('SEARCH', {}, egressTo(directory, { user })))
    expect(error.details.wire).toBe('unauthenticated')
  })

  test('upgrades ldap: by STARTTLS, speaks ldaps:, and checks the name of the certificate', async () => {
    const body = { base: people(), scope: 'base' }
    expect((await ask('SEARCH', body, egressTo(directory, { plain: false }))).entries).toHaveLength(
      1,
    )
    const secure = { ...directory, url: directory.ldapsUrl }
    expect((await ask('SEARCH', body, egressTo(secure))).entries).toHaveLength(1)
    const port = new URL(directory.ldapsUrl).port
    const renamed = { ...directory, url: `ldaps://elsewhere.test:${port}` }
    const client = egressTo(renamed, { resolve: async () => ['127.0.0.1'] })
    expect((await errorOf(ask('SEARCH', body, client))).message).toMatch(
      /for another name: it has DNS:localhost, IP Address:127\.0\.0\.1; write one of its names into the address$/,
    )
  })

  test('suggests ldaps: when ldap: is used with a port of ldaps:', async () => {
    const url = `ldap://127.0.0.1:${new URL(directory.ldapsUrl).port}`
    const client = egressTo({ ...directory, url }, { plain: false })
    expect((await errorOf(ask('SEARCH', {}, client))).message).toMatch(
      /: where it is a port of ldaps:, write ldaps: before its address$/,
    )
  })

  test('suggests ldap: when ldaps: is used with a port of ldap:', async () => {
    const url = `ldaps://127.0.0.1:${new URL(directory.url).port}`
    expect((await errorOf(ask('SEARCH', {}, egressTo({ ...directory, url })))).message).toMatch(
      /: where it is a port of ldap:, write ldap: before its address$/,
    )
  })

  test('refuses a private address that is not granted', async () => {
    const client = egressTo(directory, { privateGrants: new Map() })
    const error = await errorOf(ask('SEARCH', {}, client))
    expect(error).toMatchObject({ code: 'egress_private' })
    expect(error.message).toContain('KEYWAY_PRIVATE_EGRESS=acme=127.0.0.1')
  })

  test('records names and sizes, and no values', async () => {
    const client = egressTo(directory)
    const filter = { eq: ['mail', 'user001@example.test'] }
    await ask('SEARCH', { base: person('user001'), filter, attributes: ['cn', 'mail'] }, client)
    const [record] = client.records
    expect(record).toMatchObject({
      method: 'SEARCH',
      path: '',
      query: '?scope=sub&attributes=cn,mail&entries=1',
      status: 200,
      error: null,
    })
    expect(record?.receivedBytes).toBeGreaterThan(50)
    expect(JSON.stringify(record)).not.toContain('user001')
  })

  test('serves concurrent requests of one call, each on its own connection', async () => {
    const { client, seen } = await relayed()
    const all = Array.from({ length: 4 }, (_, index) =>
      ask('SEARCH', { base: person(`user00${index + 1}`), scope: 'base' }, client),
    )
    const found = await Promise.all(all)
    expect(found.map(({ entries }) => entries[0].attributes.uid[0])).toEqual([
      'user001',
      'user002',
      'user003',
      'user004',
    ])
    expect(seen.connections).toBe(4)
    await stopAll()
  })
})
