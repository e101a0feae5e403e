/** Messages as a hostile server writes them. The library reads some of them for ever, or kills the process. */
import { describe, expect, test } from 'vitest'
import { readEntry, rememberNames } from '../../../runtime/egress/ldap/entries.ts'
import { pageCookie, shapeOf } from '../../../runtime/egress/ldap/shape.ts'

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
  ])('that is well formed is an %s', (kind, bytes) => {
    expect(shapeOf(bytes)?.kind).toBe(kind)
  })

  const cut = Buffer.from(message(tlv(0x64, tlv(0x04, 'uid=a'), tlv(0x30, attribute('uid', 'a')))))
  cut[1] = (cut[1] as number) - 2
  test.each([
    ['whose parts are longer than it', cut.subarray(0, cut.length - 2)],
    [
      'whose list of attributes is a text',
      message(tlv(0x64, tlv(0x04, 'x'), tlv(0x04, [4, 0x84]))),
    ],
    ['whose attribute is a text', message(tlv(0x64, tlv(0x04, 'x'), tlv(0x30, tlv(0x04, 'x'))))],
    [
      'whose attribute has no values',
      message(tlv(0x64, tlv(0x04, 'x'), tlv(0x30, tlv(0x30, tlv(0x04, 'x'))))),
    ],
    ['whose controls are a text', message(done, tlv(0xa0, [4, 0x84]))],
    ['whose control is none', message(done, tlv(0xa0, tlv(0x04, 'x')))],
    [
      'whose bind result ends in half a value',
      message(tlv(0x61, tlv(0x0a, [0]), tlv(0x04), tlv(0x04), [0x87, 0x84])),
    ],
    ['of an indefinite length', Buffer.from([0x30, 0x80, 2, 1, 1, 0, 0])],
    ['of five bytes of length', Buffer.from([0x30, 0x85, 0, 0, 0, 0, 3, 2, 1, 1])],
    [
      'with a result code of eight bytes',
      message(tlv(0x65, tlv(0x0a, Array(8).fill(1)), tlv(0x04), tlv(0x04))),
    ],
    ['of a kind that only clients send', message(tlv(0x63, tlv(0x04)))],
    ['with more than it should', message(done, pages('x'), tlv(0x04))],
    ['that is empty', Buffer.alloc(0)],
  ])('%s is refused', (_what, bytes) => {
    expect(shapeOf(bytes)).toBeNull()
  })

  test('counts its values', () => {
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
  const isId = (name: string) => name === 'objectGUID'

  test('is read as it is judged', () => {
    const whole = message(entry)
    const read = readEntry(whole, isId)
    expect(read?.entry).toEqual({
      dn: 'cn=Größe 🚀',
      attributes: {
        cn: ['Größe 🚀', 'two'],
        objectGUID: [btoa('bytes')],
        long: ['x'.repeat(300)],
        photo: [btoa('text'), btoa('\xff\xd8')],
        mark: ['\uFFFD'],
      },
      binary: ['objectGUID', 'photo'],
    })
    expect(read?.elements).toBe(shapeOf(whole)?.elements)
  })

  test('that is cut, or has one byte changed, is malformed to both or to none', () => {
    const whole = message(entry)
    for (let at = 0; at < whole.length; at += 1) {
      expect(readEntry(whole.subarray(0, at), isId)).toBeNull()
      for (const byte of [0x00, 0x80, 0x84, 0xff]) {
        const other = Buffer.from(whole)
        other[at] = byte
        const read = readEntry(other, isId)
        if (read !== undefined) expect(read === null).toBe(shapeOf(other)?.kind !== 'entry')
      }
    }
  })

  test('has its own names, whatever the entries before it had', () => {
    const readName = rememberNames()
    const each = [
      ['cn', 'mail'],
      ['sn', 'mail'],
      ['mail'],
      ['cn', 'mailbox', 'größe'],
      ['cn', 'mail'],
    ]
    for (const names of each) {
      const of = tlv(
        0x64,
        tlv(0x04, 'cn=a'),
        tlv(0x30, ...names.map((name) => attribute(name, 'x'))),
      )
      const read = readEntry(message(of), isId, readName)
      expect(Object.keys(read?.entry.attributes ?? {})).toEqual(names)
    }
  })

  test('is told from what ends a search', () => {
    expect(readEntry(message(done, pages('cookie')), isId)).toBeUndefined()
    expect(readEntry(message(entry, pages('cookie')), isId)?.entry.dn).toBe('cn=Größe 🚀')
  })
})
