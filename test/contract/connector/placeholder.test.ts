import { describe, expect, test } from 'vitest'
import {
  createCallMark,
  createMarks,
  exchangePlaceholder,
  holdsPlaceholder,
  secretPlaceholder,
  signPlaceholder,
} from '../../../runtime/contract/connector/placeholder.ts'

const marks = createMarks()
const call = createCallMark()
const secret = secretPlaceholder(marks, call, 37)

const groupsIn = (text: string) => [...text.matchAll(marks.scan)].map((match) => match.slice(1))

test('a placeholder has only lower-case letters and digits, so that no encoding changes it', () => {
  const all = [secret, exchangePlaceholder(marks, call), signPlaceholder(marks, call, '7b7d')]
  for (const one of all) expect(one).toMatch(/^[a-z0-9]+$/)
  expect(encodeURIComponent(secret)).toBe(secret)
  expect(new URL(`https://${secret}.example`).hostname).toContain(secret)
})

test('each process has its own marks, and each call its own placeholders', () => {
  expect(createMarks().head).not.toBe(marks.head)
  expect(secretPlaceholder(marks, createCallMark(), 0)).not.toBe(secretPlaceholder(marks, call, 0))
})

describe('a text is scanned', () => {
  test('for whole placeholders, with what they stand for', () => {
    const text = `a ${secret} b ${exchangePlaceholder(marks, call)}${signPlaceholder(marks, call, '7b7d')}`
    expect(groupsIn(text)).toEqual([
      [call, '011', undefined, undefined],
      [call, undefined, 'e', undefined],
      [call, undefined, undefined, '7b7d'],
    ])
  })

  test.each(Array.from({ length: secret.length - 1 }, (_, index) => index + 1))(
    'for pieces of one that is cut after %i characters',
    (at) => {
      expect(`${secret.slice(0, at)} ${secret.slice(at)}`.search(marks.scan)).not.toBe(-1)
    },
  )

  test.each(['', 'x', 'ab', 'abc', 'user:', '"pass":"'])('within base64 after %j', (before) => {
    const encoded = Buffer.from(`${before}${secret} and more`).toString('base64')
    expect(encoded.search(marks.scan)).not.toBe(-1)
  })

  test('without a match when there is none', () => {
    const other = createMarks()
    const text = `kwsecret kw ${secretPlaceholder(other, call, 0)} ${'x'.repeat(1000)}`
    expect(text.search(marks.scan)).toBe(-1)
  })
})

test('a placeholder of an unknown process is recognised', () => {
  expect(holdsPlaceholder(`x${secret}y`)).toBe(true)
  expect(holdsPlaceholder(secret.slice(0, 20))).toBe(false)
})
