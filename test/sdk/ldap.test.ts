import { describe, expect, test } from 'vitest'
import type { Ldap, LdapSearch } from '../../runtime/contract/connector/ldap-context.ts'
import {
  attributesFrom,
  guidText,
  guidValue,
  isBelow,
  movedDn,
  plainDn,
  searchPage,
  sidText,
  sidValue,
  textsOf,
} from '../../runtime/sdk/sdk.ts'

describe('the canonical spelling of a DN', () => {
  test.each([
    ['uid=user001,ou=people,dc=acme', 'uid=user001,ou=people,dc=acme'],
    ['UID=User001 , OU=People,dc=acme', 'uid=user001,ou=people,dc=acme'],
    ['cn=Doe\\, Jane,dc=acme', 'cn=doe\\2c jane,dc=acme'],
    ['cn=Doe\\2C Jane,dc=acme', 'cn=doe\\2c jane,dc=acme'],
    ['cn=R\\+D Lead,dc=acme', 'cn=r\\2bd lead,dc=acme'],
    ['cn=Bob \\"Bobby\\" Quote,dc=acme', 'cn=bob \\22bobby\\22 quote,dc=acme'],
    ['cn=\\ Leading Space,dc=acme', 'cn=\\20leading space,dc=acme'],
    ['cn=J\\C3\\BCrgen Größe,dc=acme', 'cn=jürgen größe,dc=acme'],
    ['cn=Rocket 🚀,dc=acme', 'cn=rocket 🚀,dc=acme'],
    ['cn=50% \\5C,dc=acme', 'cn=50% \\5c,dc=acme'],
    // Directories treat several spaces within a value as one (RFC 4518 section 2.6.1).
    [
      'uid=Ada  M.\\20\\20Lovelace,ou=the  people,dc=acme',
      'uid=ada m. lovelace,ou=the people,dc=acme',
    ],
    ['cn=a \\, b  c,dc=acme', 'cn=a \\2c b c,dc=acme'],
    // Letters that a directory does not find by their lower case in JavaScript.
    ['UID=İbrahim,dc=acme', 'uid=İbrahim,dc=acme'],
    ['uid=ΓΙΩΡΓΟΣ ΠΑΠΑΣ,dc=acme', 'uid=γιωργοσ παπασ,dc=acme'],
    ['uid=Özlem,ou=Šéf,dc=Київ', 'uid=özlem,ou=šéf,dc=київ'],
    ['uid=STRAẞE Ⅷ Ნ,dc=acme', 'uid=straẞe Ⅷ Ნ,dc=acme'],
    ['uid=STRAẞE,dc=acme', 'uid=straẞe,dc=acme'],
    ['uid=\u212Aelvin Ⅷ,dc=acme', 'uid=\u212Aelvin Ⅷ,dc=acme'],
  ])('of %j is %j, and is stable', (text, plain) => {
    expect(plainDn(text)).toBe(plain)
    expect(plainDn(plain)).toBe(plain)
  })

  test.each(['', 'ada', 'ou=a;dc=b', 'ou=\\FF', 'ou=a,', 'ou=\ud800', 'ou=\\20\udc00'])(
    'of %j does not exist',
    (text) => {
      expect(plainDn(text)).toBeNull()
    },
  )
})

test.each([
  ['uid=a,ou=people,dc=acme', true],
  ['ou=people,dc=acme', false],
  ['uid=a,ou=otherpeople,dc=acme', false],
  ['uid=a\\2cou=people,dc=acme', false],
  ['uid=a\\,ou=people,dc=acme', false],
  ['UID=A, OU=People , DC=Acme', true],
  ['uid=a,ou=\\70eople,dc=acme', true],
  ['cn=Müller\\2c Jürgen,OU=people,dc=acme', true],
  ['uid=a,ou=people,dc=acme,dc=other', false],
  ['uid=a;b\\,ou=people,dc=acme', false],
  ['', false],
])('%j lies below ou=people,dc=acme: %s', (dn, expected) => {
  expect(isBelow(dn, 'ou=people,dc=acme')).toBe(expected)
})

test.each([
  ['uid=a,cn=r+ou=x,dc=acme', true],
  ['uid=a,OU=x+cn=R,dc=acme', true],
  ['cn=r+ou=x,dc=acme', false],
  ['uid=a,cn=r+ou=y,dc=acme', false],
  ['uid=a,cn=r,dc=acme', false],
])('%j lies below cn=r+ou=x,dc=acme: %s', (dn, expected) => {
  for (const base of ['cn=r+ou=x,dc=acme', 'ou=X + cn=R, dc=acme'])
    expect(isBelow(dn, base)).toBe(expected)
})

test.each(['', 'people'])('no entry lies below %j', (base) => {
  expect(isBelow('uid=a,ou=people', base)).toBe(false)
})

describe('the ids of Active Directory', () => {
  const GUID = 'a81e5234-84b5-4f9a-8d85-7d480e7b8aa0'
  const SID = 'S-1-5-21-3674399607-3685906530-2880156621-1107'

  test('are converted between text and bytes', () => {
    expect(guidValue(GUID)).toEqual({ base64: 'NFIeqLWEmk+NhX1IDnuKoA==' })
    expect(guidText(guidValue(GUID.toUpperCase())?.base64 ?? '')).toBe(GUID)
    expect(sidValue(SID)).toEqual({ base64: 'AQUAAAAAAAUVAAAAd+MC22J4stvNs6urUwQAAA==' })
    expect(sidText(sidValue(SID)?.base64 ?? '')).toBe(SID)
    expect(sidText(sidValue('S-1-281474976710655-4294967295')?.base64 ?? '')).toBe(
      'S-1-281474976710655-4294967295',
    )
  })

  test.each(['', 'user001', `${GUID}0`, `{${GUID}}`, '*)(objectGUID=*'])(
    'do not include %j',
    (text) => {
      expect(guidValue(text)).toBeNull()
      expect(sidValue(text)).toBeNull()
    },
  )
})

test('fields become attributes; an empty field removes the value in a change', () => {
  const names = { email: 'mail', title: 'title', given_name: 'givenName' }
  const fields = { email: 'a@acme.example', title: '', given_name: undefined, other: 'x' }
  expect(attributesFrom(fields, names, 'add')).toEqual({ mail: ['a@acme.example'] })
  expect(attributesFrom(fields, names, 'change')).toEqual({ mail: ['a@acme.example'], title: [] })
})

test('the attributes of an entry become text', () => {
  const entry = { dn: 'cn=a', attributes: { Title: ['Lead', 'Chair'], cn: ['a'] }, binary: [] }
  expect(textsOf(entry, ['title', 'mail'])).toEqual({ title: 'Lead, Chair' })
})

test('a DN keeps its name when it is moved', () => {
  expect(movedDn('CN=Doe\\, Jane,OU=People,DC=acme', 'OU=Left,DC=acme')).toBe(
    'cn=Doe\\2C Jane,OU=Left,DC=acme',
  )
  expect(() => movedDn('user001', 'OU=Left,DC=acme')).toThrow('is no DN')
})

test.each([
  [null, undefined, 500],
  [1000, undefined, 500],
  [20, undefined, 20],
  [1000, 25, 25],
])('a page of size %j with a maximum of %j requests %j entries', async (size, most, asked) => {
  const sizes: unknown[] = []
  // The cast is safe: a listing uses only the search.
  const ldap = {
    async search({ page }: LdapSearch) {
      sizes.push(page?.size)
      return { entries: [], cursor: null, referrals: [] }
    },
  } as Partial<Ldap> as Ldap
  await searchPage({ ldap }, { size, cursor: null }, most === undefined ? {} : { most })
  expect(sizes).toEqual([asked])
})
