import { describe, expect, test } from 'vitest'
import { isBelow, plainDn } from '../../runtime/sdk/sdk.ts'

describe('the one spelling of a DN', () => {
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
  ])('of %j is %j, and stays that', (text, plain) => {
    expect(plainDn(text)).toBe(plain)
    expect(plainDn(plain)).toBe(plain)
  })

  test.each(['', 'ada', 'ou=a;dc=b', 'ou=\\FF', 'ou=a,'])('%j has none', (text) => {
    expect(plainDn(text)).toBeNull()
  })
})

test.each([
  ['uid=a,ou=people,dc=acme', true],
  ['ou=people,dc=acme', false],
  ['uid=a,ou=otherpeople,dc=acme', false],
  ['uid=a\\2cou=people,dc=acme', false],
])('%j lies below ou=people,dc=acme: %s', (dn, expected) => {
  expect(isBelow(dn, 'ou=people,dc=acme')).toBe(expected)
})
