/** Messages of a hostile server. Some of them make the library loop for ever or kill the process. */
import { describe, expect, test } from 'vitest'
import type { LdapEntry } from '../../../runtime/contract/connector/ldap-context.ts'
import { createEntryReader } from '../../../runtime/egress/ldap/entries.ts'
import { pageCookie, shapeOf } from '../../../runtime/egress/ldap/reply-shape.ts'

const tlv = (tag: number, ...content: (Buffer | string | number[])[]): Buffer => {
  const body = Buffer.concat(
    content.map((one) => (typeof one === 'string' ? Buffer.from(one) : Buffer.from(one))),
  )
  return Buffer.concat([
    body.length < 128
      ? Buffer.from([tag, body.length])
      : Buffer.from([tag, 0x82, body.length >> 8, body.length & 255]),
    body,
  ])
}
const message = (...parts: Buffer[]) => tlv(0x30, tlv(0x02, [1]), ...parts)
const attribute = (name: string, ...values: string[]) =>
  tlv(0x30, tlv(0x04, name), tlv(0x31, ...values.map((one) => tlv(0x04, one))))
const done = tlv(0x65, tlv(0x0a, [0]), tlv(0x04), tlv(0x04))
const pages = (cookie: string) =>
  tlv(
    0xa0,
    tlv(
      0x30,
      tlv(0x04, '1.2.840.113556.1.4.319'),
      tlv(0x04, tlv(0x30, tlv(0x02, [0]), tlv(0x04, cookie))),
    ),
  )

describe('a message of a server', () => {
  test.each([
    ['entry', message(tlv(0x64, tlv(0x04, 'uid=a'), tlv(0x30, attribute('uid', 'a', 'b'))))],
    ['reference', message(tlv(0x73, tlv(0x04, 'ldap://elsewhere')))],
    ['result', message(done)],
    ['result', message(done, pages('x'))],
    [
      'result',
      message(tlv(0x61, tlv(0x0a, [10]), tlv(0x04), tlv(0x04), tlv(0xa3, tlv(0x04, 'x')))),
    ],
  ])('that is well formed has the kind %s', (kind, bytes) => {
    expect(shapeOf(bytes)?.kind).toBe(kind)
  })

  const cut = Buffer.from(message(tlv(0x64, tlv(0x04, 'uid=a'), tlv(0x30, attribute('uid', 'a')))))
  cut[1] = (cut[1] as number) - 2
  test.each([
    ['whose parts are longer than the whole', cut.subarray(0, cut.length - 2)],
    ['whose attribute list is a string', message(tlv(0x64, tlv(0x04, 'x'), tlv(0x04, [4, 0x84])))],
    ['whose attribute is a string', message(tlv(0x64, tlv(0x04, 'x'), tlv(0x30, tlv(0x04, 'x'))))],
    [
      'whose attribute has no values',
      message(tlv(0x64, tlv(0x04, 'x'), tlv(0x30, tlv(0x30, tlv(0x04, 'x'))))),
    ],
    ['whose controls are a string', message(done, tlv(0xa0, [4, 0x84]))],
    ['whose control is malformed', message(done, tlv(0xa0, tlv(0x04, 'x')))],
    [
      'whose bind result ends within a value',
      message(tlv(0x61, tlv(0x0a, [0]), tlv(0x04), tlv(0x04), [0x87, 0x84])),
    ],
    ['of an indefinite length', Buffer.from([0x30, 0x80, 2, 1, 1, 0, 0])],
    ['with a length of five bytes', Buffer.from([0x30, 0x85, 0, 0, 0, 0, 3, 2, 1, 1])],
    [
      'with a result code of eight bytes',
      message(tlv(0x65, tlv(0x0a, Array(8).fill(1)), tlv(0x04), tlv(0x04))),
    ],
    ['of a kind that only clients send', message(tlv(0x63, tlv(0x04)))],
    ['with trailing elements', message(done, pages('x'), tlv(0x04))],
    ['that is empty', Buffer.alloc(0)],
  ])('%s is refused', (_what, bytes) => {
    expect(shapeOf(bytes)).toBeNull()
  })

  test('has its values counted', () => {
    const entry = message(
      tlv(0x64, tlv(0x04, 'x'), tlv(0x30, attribute('m', ...Array(50).fill('v')))),
    )
    expect(shapeOf(entry)?.elements).toBeGreaterThan(50)
  })

  test('says whether there are more pages', () => {
    expect(String(pageCookie(message(done, pages('cookie'))))).toBe('cookie')
    expect(pageCookie(message(done, pages('')))).toBeNull()
    expect(pageCookie(message(done))).toBeNull()
  })
})

describe('an entry', () => {
  const entry = tlv(
    0x64,
    tlv(0x04, 'cn=Größe 🚀'),
    tlv(
      0x30,
      attribute('cn', 'Größe 🚀', 'two'),
      attribute('objectGUID', 'bytes'),
      attribute('none'),
      attribute('long', 'x'.repeat(300)),
      tlv(0x30, tlv(0x04, 'photo'), tlv(0x31, tlv(0x04, 'text'), tlv(0x04, [0xff, 0xd8]))),
      attribute('mark', '\uFFFD'),
    ),
  )
  const IDS = ['objectguid']

  /** The entries of consecutive messages. */
  async function entriesOf(...messages: Buffer[]): Promise<LdapEntry[]> {
    const reader = createEntryReader(IDS, 16)
    for (const one of messages) expect(reader.read(one)).toBeGreaterThan(0)
    expect(reader.count).toBe(messages.length)
    return JSON.parse(`[${Buffer.concat(await reader.pieces(async (one) => one))}]`)
  }

  const read = (bytes: Buffer) => createEntryReader(IDS, 16).read(bytes)

  test('is parsed, and its elements are counted as the check counts them', async () => {
    const whole = message(entry)
    expect(await entriesOf(whole, whole)).toEqual(
      Array(2).fill({
        dn: 'cn=Größe 🚀',
        attributes: {
          cn: ['Größe 🚀', 'two'],
          objectGUID: [btoa('bytes')],
          long: ['x'.repeat(300)],
          photo: [btoa('text'), btoa('\xff\xd8')],
          mark: ['\uFFFD'],
        },
        binary: ['objectGUID', 'photo'],
      }),
    )
    expect(read(whole)).toBe(shapeOf(whole)?.elements)
  })

  test('that is truncated or has one byte changed is rejected by both reader and check, or by neither', () => {
    const whole = message(entry)
    for (let at = 0; at < whole.length; at += 1) {
      expect(read(whole.subarray(0, at))).toBeNull()
      for (const byte of [0x00, 0x80, 0x84, 0xff]) {
        const other = Buffer.from(whole)
        other[at] = byte
        const elements = read(other)
        if (elements !== undefined) expect(elements === null).toBe(shapeOf(other)?.kind !== 'entry')
      }
    }
  })

  test('keeps values that JSON escapes, and unusual names such as __proto__', async () => {
    const texts = ['a "b" \\ c', '\u0000\n\t', '', ' ', '\u007f', 'ü"', '\u2028']
    const of = tlv(
      0x64,
      tlv(0x04, [0x63, 0xff]),
      tlv(0x30, attribute('x', ...texts), attribute('__proto__', 'p'), attribute('"', 'q')),
    )
    const [found] = await entriesOf(message(of))
    expect(found?.dn).toBe('c\uFFFD')
    expect(found?.attributes['x']).toEqual(texts)
    expect(Object.entries(found?.attributes ?? {}).slice(1)).toEqual([
      ['__proto__', ['p']],
      ['"', ['q']],
    ])
  })

  test('has its own attribute names, independent of the entries before it', async () => {
    const each = [
      ['cn', 'mail'],
      ['sn', 'mail'],
      ['mail'],
      ['cn', 'mailbox', 'größe'],
      ['cn', 'mail'],
    ]
    const found = await entriesOf(
      ...each.map((names) => {
        const attributes = names.map((name) => attribute(name, 'x'))
        return message(tlv(0x64, tlv(0x04, 'cn=a'), tlv(0x30, ...attributes)))
      }),
    )
    expect(found.map(({ attributes }) => Object.keys(attributes))).toEqual(each)
  })

  test('with values in ranges is replaced in place by the whole entry', async () => {
    const plain = message(tlv(0x64, tlv(0x04, 'cn=a'), tlv(0x30, attribute('cn', 'a'))))
    const part = attribute('member;range=0-0', 'x')
    const ranged = message(tlv(0x64, tlv(0x04, 'cn=b'), tlv(0x30, part)))
    const reader = createEntryReader([], 16)
    for (const one of [ranged, plain, ranged, plain]) reader.read(one)
    const asked: LdapEntry[] = []
    const pieces = await reader.pieces(async (one) => {
      asked.push(one)
      return { dn: one.dn, attributes: { member: ['x', 'y'] }, binary: [] }
    })
    expect(asked.map(({ attributes }) => attributes)).toEqual(
      Array(2).fill({ 'member;range=0-0': ['x'] }),
    )
    const found: LdapEntry[] = JSON.parse(`[${Buffer.concat(pieces)}]`)
    expect(found.map(({ dn }) => dn)).toEqual(['cn=b', 'cn=a', 'cn=b', 'cn=a'])
    expect(found[2]?.attributes).toEqual({ member: ['x', 'y'] })
  })

  test('is distinguished from the end of a search', () => {
    expect(read(message(done, pages('cookie')))).toBeUndefined()
    expect(read(message(entry, pages('cookie')))).toBeGreaterThan(0)
  })
})
