/** Messages for malformed requests of `ctx.ldap`. They contain no values of the request. */
import { expect, test } from 'vitest'
import { LDAP_REQUESTS } from '../../../runtime/contract/connector/ldap.ts'
import { readLdapRequest } from '../../../runtime/egress/ldap/ldap-request.ts'
import { readBody } from '../../../runtime/egress/wire/request-body.ts'
import { thrownBy } from '../fixtures/open-egress.ts'

const messageOf = async (operation: keyof typeof LDAP_REQUESTS, body: object) => {
  const reading = { bridge: 'ldap' as const, operation, schemas: LDAP_REQUESTS }
  return (await thrownBy(() => readBody(reading, Buffer.from(JSON.stringify(body))))).message
}

test.each([
  ['a text', '(uid=hunter2)'],
  ['an unknown operator', { equals: ['uid', 'hunter2'] }],
  ['an object in place of a pair', { eq: { uid: 'hunter2' } }],
  [
    'a missing value in a nested filter',
    { and: [{ eq: ['uid', null] }, { eq: ['cn', 'hunter2'] }] },
  ],
])('%s is not a filter; the message shows how to write one', async (_what, filter) => {
  const message = await messageOf('search', { filter })
  expect(message).toBe(
    'ctx.ldap.search: filter: is no filter: write { eq: [name, value] }, { present: name }, { and: [...] } or another of the SDK reference',
  )
})

test.each([
  ['an unknown operation', { set: { mail: ['hunter2'] } }],
  ['a value that is not a list', { replace: { mail: 'hunter2' } }],
  ['a number', { add: { gidNumber: [12321] } }],
])('%s is not a change; the message shows how to write one', async (_what, change) => {
  const message = await messageOf('modify', { dn: 'cn=x,dc=acme', changes: [change] })
  expect(message).toContain('changes[0]: is no change: write one of { add: { name: [values] } }')
  expect(message).not.toMatch(/hunter2|12321/)
})

const HALF = 'half\ud83dof it'

test.each([
  ['a password', 'PASSWORD', { dn: 'cn=x,dc=acme', value: HALF }, 'invalidAttributeSyntax'],
  ['a value', 'ADD', { dn: 'cn=x,dc=acme', attributes: { sn: [HALF] } }, 'invalidAttributeSyntax'],
  ['a filter', 'SEARCH', { filter: { eq: ['uid', HALF] } }, 'invalidAttributeSyntax'],
  ['the entry', 'SEARCH', { base: `cn=${HALF},dc=acme` }, 'noSuchObject'],
  [
    'a new name',
    'MOVE',
    { dn: 'cn=x,dc=acme', to: `cn=${HALF},dc=acme` },
    'invalidAttributeSyntax',
  ],
] as const)('half of a character in %s is refused', async (...given) => {
  const [, method, body, appErrorCode] = given
  const error = await thrownBy(() => readLdapRequest(method, Buffer.from(JSON.stringify(body))))
  expect(error).toMatchObject({ code: 'directory_refused', details: { appErrorCode } })
  expect(error.message).toContain('half of a character')
  const whole = JSON.stringify(body).replace('\\ud83d', '\\\\ud83d😀')
  expect(readLdapRequest(method, Buffer.from(whole))).toMatchObject({
    operation: expect.any(String),
  })
})
