import { describe, expect, test } from 'vitest'
import {
  escapeDnValue,
  isWithin,
  parseDn,
  writeDn,
} from '../../../runtime/contract/connector/dn.ts'

const within = (dn: string, base: string) => {
  const [left, right] = [parseDn(dn), parseDn(base)]
  return left !== null && right !== null && isWithin(left, right)
}

describe('a DN', () => {
  test.each([
    ['uid=ada,ou=people,dc=acme', 'uid=ada,ou=people,dc=acme'],
    ['CN=Doe\\, Jane , OU=People', 'cn=Doe\\2C Jane,ou=People'],
    ['cn=R\\2BD \\\\,dc=x', 'cn=R\\2BD \\5C,dc=x'],
    ['cn=a+sn=b,dc=x', 'cn=a+sn=b,dc=x'],
    ['cn=J\\C3\\BCrgen 🚀,dc=x', 'cn=Jürgen 🚀,dc=x'],
    ['cn=ends in a space\\ ,dc=x', 'cn=ends in a space\\20,dc=x'],
    ['cn=🚀  ,dc=x', 'cn=🚀,dc=x'],
    ['2.5.4.3=x', '2.5.4.3=x'],
    ['', ''],
  ])('%j is parsed, and written with its separators escaped', (text, written) => {
    const dn = parseDn(text)
    expect(dn).not.toBeNull()
    expect(writeDn(dn ?? [])).toBe(written)
    expect(writeDn(parseDn(written) ?? [])).toBe(written)
  })

  test.each([
    'ou',
    'ou=',
    '=x',
    'ou=a,',
    ',ou=a',
    'ou=a;dc=b',
    'ou="a,b"',
    'ou=a\\',
    'ou=a\\x',
    'ou=\\FF',
    'ou=#04024869',
    'ou=a\u0000b',
    'o u=a',
    'ou=a<b',
    Array(70).fill('ou=a').join(','),
  ])('%j is invalid', (text) => {
    expect(parseDn(text)).toBeNull()
  })

  test('of a million characters is parsed without an error', () => {
    for (const text of ['ou=a,'.repeat(200_000), `ou=${'\\41'.repeat(300_000)}`, 'a'.repeat(1e6)])
      expect(() => parseDn(text)).not.toThrow()
  })
})

describe('whether a DN is below ou=people,dc=acme', () => {
  test.each([
    ['ou=people,dc=acme', true],
    ['uid=a,OU=People , DC=ACME', true],
    ['uid=a,ou=\\70eople,dc=acme', true],
    ['dc=acme', false],
    ['uid=a,ou=people,dc=acme,dc=evil', false],
    ['uid=a\\,ou=people\\,dc=acme', false],
    ['uid=a,xou=people,dc=acme', false],
    ['uid=a,ou=people+cn=b,dc=acme', false],
  ])('%j', (dn, expected) => {
    expect(within(dn, 'ou=people,dc=acme')).toBe(expected)
  })
})

test.each([
  ['a,dc=evil', 'a\\2Cdc\\3Devil'],
  [' both ', '\\20both\\20'],
  ['#1 "x" <y>;\\+', '\\231 \\22x\\22 \\3Cy\\3E\\3B\\5C\\2B'],
  ['a\u0000b', 'a\\00b'],
  [' ', '\\20'],
])('the value %j is escaped as %j', (value, escaped) => {
  expect(escapeDnValue(value)).toBe(escaped)
  expect(parseDn(`cn=${escaped},dc=x`)).toEqual([
    [{ type: 'cn', value }],
    [{ type: 'dc', value: 'x' }],
  ])
})
