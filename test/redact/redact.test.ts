import { describe, expect, test } from 'vitest'
import { createRedact, REDACTED, redactValue } from '../../runtime/redact/redact.ts'

const SECRET = 'p@ss "word"/+é'
const lowerPercent = (text: string) =>
  encodeURIComponent(text).replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
const redact = createRedact(() => [SECRET, 'guest', 'longer-than-eight', 'longer-than-eight-too'])

describe('a text', () => {
  test.each([
    ['as it is', `a ${SECRET} b`],
    ['percent-encoded', `a ${encodeURIComponent(SECRET)} b`],
    ['percent-encoded in lower case', `a ${lowerPercent(SECRET)} b`],
    ['encoded for a path', `a ${encodeURI(SECRET)} b`],
    ['in base64', `a ${Buffer.from(SECRET).toString('base64')} b`],
    [
      'in base64 without padding',
      `a ${Buffer.from(SECRET).toString('base64').replace(/=+$/, '')} b`,
    ],
    ['in base64url', `a ${Buffer.from(SECRET).toString('base64url')} b`],
    ['within JSON', `a ${JSON.stringify(SECRET).slice(1, -1)} b`],
  ])('loses a secret %s', (_name, text) => {
    expect(redact(text)).toBe(`a ${REDACTED} b`)
  })

  test.each(['пароль-арендатора', 'contraseña-密码', 'geheim-passwort-😀'])(
    'loses a secret that ends with a character beyond Latin-1: %s',
    (secret) => {
      expect(createRedact(() => [secret])(`it was ${secret}.`)).toBe('it was [secret].')
    },
  )

  test('loses every occurrence, the longest first', () => {
    expect(redact('longer-than-eight-too, longer-than-eight longer-than-eight')).toBe(
      `${REDACTED}, ${REDACTED} ${REDACTED}`,
    )
  })

  test('loses every part of overlapping secrets', () => {
    const overlapping = createRedact(() => ['dash-----end', '--end-of-it'])
    expect(overlapping('a dash-----end-of-it b')).toBe(`a ${REDACTED} b`)
    const dashes = createRedact(() => ['-'.repeat(8)])
    expect(dashes(`a ${'-'.repeat(21)} b`)).toBe(`a ${REDACTED} b`)
  })

  test('keeps a short secret, which would redact too much', () => {
    expect(redact('guest accounts')).toBe('guest accounts')
  })

  test('is unchanged without secrets', () => {
    expect(createRedact(() => [])('x $& y')).toBe('x $& y')
  })

  test('loses a secret that contains a lone surrogate', () => {
    expect(createRedact(() => ['\ud800-half-a-pair'])('x \ud800-half-a-pair')).toBe(`x ${REDACTED}`)
  })
})

describe('a value', () => {
  test.each([
    ['a number', ['12345678'], { a: 12345678, b: 5 }, { a: REDACTED, b: 5 }],
    ['pieces of JSON', ['":{"a":1', '","b":"x'], { x: { a: 1 } }, { x: { a: 1 } }],
    ['quotation marks', ['""""""""'], ['', '"'], ['', '"']],
    ['a name', ['secret-name'], { 'secret-name': 1 }, { [REDACTED]: 1 }],
    [
      'a value deep inside',
      ['longer-than-eight'],
      [{ a: ['longer-than-eight'] }],
      [{ a: [REDACTED] }],
    ],
    ['other scalars', ['longer-than-eight'], [true, null, 1.5], [true, null, 1.5]],
  ])('keeps its structure when secrets look like %s', (_name, secrets, value, expected) => {
    expect(
      redactValue(
        value,
        createRedact(() => secrets as string[]),
      ),
    ).toEqual(expected)
  })

  test('that is nested too deep is truncated', () => {
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)
    expect(JSON.stringify(redactValue(deep, redact))).toContain('too deep')
  })

  test('with a member named __proto__ keeps its prototype', () => {
    const value = redactValue(JSON.parse('{"__proto__":{"x":1}}'), redact) as object
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })
})

describe('a secret that is hidden at any length', () => {
  const hide = (secret: string) =>
    createRedact(
      () => ['longer-than-eight'],
      () => [secret],
    )

  test.each([
    ['ab', 'code=ab&state=s', `code=${REDACTED}&state=s`],
    ['ab', '{"code":"ab"}', `{"code":"${REDACTED}"}`],
    ['ab', 'a line\\nab', `a line\\n${REDACTED}`],
    ['ab', 'cab and lab, abstract', 'cab and lab, abstract'],
    ['a/b', 'code=a%2Fb', `code=${REDACTED}`],
    ['a/b', 'code=a%2fb', `code=${REDACTED}`],
    ['guest', 'guests', `${REDACTED}s`],
    ['secret', 'the secret is secret', `the ${REDACTED} is ${REDACTED}`],
    ['sec', `in base64 ${Buffer.from('sec').toString('base64')}`, `in base64 ${REDACTED}`],
    ['than', 'longer-than-eight', REDACTED],
    [' ab ', 'found ab', `found ${REDACTED}`],
    ['longer-code', 'xlonger-codex', `x${REDACTED}x`],
  ])('%j is hidden in %j, unless it is short and part of a word', (secret, text, expected) => {
    expect(hide(secret)(text)).toBe(expected)
  })

  test('that is empty hides nothing', () => {
    expect(hide('')('a text')).toBe('a text')
    expect(hide(' ')('a text')).toBe('a text')
  })
})
