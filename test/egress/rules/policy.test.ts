import { describe, expect, test } from 'vitest'
import type { EgressRule } from '../../../runtime/contract/connector/manifest.ts'
import type { Fields } from '../../../runtime/contract/connector/settings.ts'
import { judgeUrl, type Policy, parseUrl } from '../../../runtime/egress/rules/policy.ts'
import { resolveRules } from '../../../runtime/egress/rules/resolve-rules.ts'
import type { Settings } from '../../../runtime/egress/rules/server-url.ts'
import { compileRules } from '../../../runtime/egress/rules/url-template.ts'
import { bestMs } from '../../kit/best-ms.ts'
import { thrownBy } from '../fixtures/open-egress.ts'

const FIELDS: Fields = {
  sub: { type: 'string', pattern: '.*' },
  plain: { type: 'string' },
  host: { type: 'string', format: 'hostname' },
  base: { type: 'string', format: 'url' },
  tenant: { type: 'integer' },
}

function policyOf(
  rules: (string | EgressRule)[],
  settings: Settings = {},
  more: Partial<Policy> = {},
): Policy {
  const written = rules.map((rule) => (typeof rule === 'string' ? { url: rule } : rule))
  const { rules: compiled, findings } = compileRules(written, FIELDS)
  expect(findings).toEqual([])
  return { ...resolveRules(compiled, FIELDS, settings), level: 'write', readsWith: [], ...more }
}

const verdict = (rule: string, url: string, settings: Settings = {}): string => {
  const policy = policyOf([rule], settings)
  try {
    judgeUrl(parseUrl(url), 'GET', policy)
    return 'allowed'
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('allows', () => {
  test.each([
    ['https://a.example', 'https://a.example'],
    ['https://a.example', 'https://A.EXAMPLE/x?y=1#z'],
    ['https://a.example', 'https://a.example:443/x'],
    ['https://a.example:443', 'https://a.example/x'],
    ['https://a.example', 'https://a.example./x'],
    ['https://a.example', 'https://ａ.example/x'],
    ['https://a.example', '  https://a.exa\tmple/x\n'],
    ['https://a.example', 'https:\\\\a.example\\x'],
    ['http://a.example:8080', 'http://a.example:8080/x'],
    ['https://xn--bcher-kva.example', 'https://bücher.example/'],
    ['https://*.a.example', 'https://b.a.example/'],
    ['https://a.example/v1', 'https://a.example/v1'],
    ['https://a.example/v1', 'https://a.example/v1/'],
    ['https://a.example/v1/', 'https://a.example/v1'],
    ['https://a.example/v1', 'https://a.example/v1/users/7'],
    ['https://a.example/v1', 'https://a.example/v2/../v1/x'],
    ['https://a.example/v1', 'https://a.example/v2/%2e%2E/v1/x'],
    ['https://a.example/v1', 'https://a.example/%761/x'],
    ['https://a.example/v1/*', 'https://a.example/v1/x'],
    ['https://a.example/v1/*', 'https://a.example/v1/a%2Fb'],
    ['https://a.example/v1/*/roles', 'https://a.example/v1/7/roles/8'],
    ['https://a.example/api', 'https://a.example/api/queues/%2F/orders'],
    ['https://a.example/api/*/%2F', 'https://a.example/api/queues/%2F'],
    ['https://a.example/api', 'https://a.example/api/a%2F.b%2F...'],
    ['https://a.example/api', 'https://a.example/api/100%25'],
    ['https://a.example/api', 'https://a.example/api/100%25zz'],
    ['https://a.example/api', 'https://a.example/api/.well-known;v=1/a..b'],
    ['https://a.example/api', 'https://a.example/api/b%C3%BCcher…%F0%9F%98%80'],
    ['https://a.example', 'https://a.example/%ff%2F..%2Fadmin'],
    ['https://127.0.0.1', 'https://2130706433/'],
    ['https://127.0.0.1', 'https://0x7f.0.0.1/'],
    ['https://127.0.0.1', 'https://0177.0.0.1/'],
    ['https://[::1]', 'https://[0:0:0:0:0:0:0:1]/'],
  ])('%s covers %s', (rule, url) => {
    expect(verdict(rule, url)).toBe('allowed')
  })
})

describe('denies', () => {
  test.each([
    ['https://a.example', 'https://b.example/', 'egress_undeclared'],
    ['https://a.example', 'http://a.example/', 'egress_undeclared'],
    ['http://a.example', 'https://a.example/', 'egress_undeclared'],
    ['https://a.example', 'https://a.example:8443/', 'egress_undeclared'],
    ['https://a.example:8443', 'https://a.example/', 'egress_undeclared'],
    ['https://a.example', 'http://a.example:443/', 'egress_undeclared'],
    ['https://a.example', 'https://a.example.evil.example/', 'egress_undeclared'],
    ['https://a.example', 'https://evila.example/', 'egress_undeclared'],
    ['https://a.example', 'https://x.a.example/', 'egress_undeclared'],
    ['https://a.example', 'https://a.example../', 'egress_undeclared'],
    ['https://a.example', 'https://a.example@evil.example/', 'egress_url'],
    ['https://a.example', 'https://a.example:443@evil.example/', 'egress_url'],
    ['https://a.example', 'https://user@a.example/', 'egress_url'],
    ['https://a.example', 'https://evil.example\\@a.example/', 'egress_undeclared'],
    ['https://a.example', 'https://evil.example#@a.example/', 'egress_undeclared'],
    ['https://a.example', 'https://evil.example?@a.example/', 'egress_undeclared'],
    ['https://a.example', 'https://evil.example%2f@a.example/', 'egress_url'],
    ['https://a.example', '//a.example/', 'context_misused'],
    ['https://a.example', '/x', 'context_misused'],
    ['https://a.example', '', 'context_misused'],
    ['https://a.example', 'file:///etc/passwd', 'egress_url'],
    ['https://a.example', 'data:,x', 'egress_url'],
    ['https://a.example', 'blob:https://a.example/x', 'egress_url'],
    ['https://a.example', 'ws://a.example/', 'egress_url'],
    ['https://a.example', 'javascript:alert(1)', 'egress_url'],
    ['https://a.example', 'https://a.exam ple/', 'context_misused'],
    ['https://a.example', 'https://a.example:99999/', 'context_misused'],
    ['https://a.example', `https://a.example/${'x'.repeat(70_000)}`, 'egress_url'],
    ['https://acme.example', 'https://аcme.example/', 'egress_undeclared'],
    ['https://*.a.example', 'https://a.example/', 'egress_undeclared'],
    ['https://*.a.example', 'https://c.b.a.example/', 'egress_undeclared'],
    ['https://*.a.example', 'https://.a.example/', 'egress_undeclared'],
    ['https://*.a.example', 'https://b.a.example.evil.example/', 'egress_undeclared'],
    ['https://*.a.example', 'https://ba.example/', 'egress_undeclared'],
    ['https://a.example/v1', 'https://a.example/', 'egress_undeclared'],
    ['https://a.example/v1', 'https://a.example/v10', 'egress_undeclared'],
    ['https://a.example/v1', 'https://a.example/V1', 'egress_undeclared'],
    ['https://a.example/v1', 'https://a.example//v1', 'egress_undeclared'],
    ['https://a.example/v1', 'https://a.example/v1/../v2', 'egress_undeclared'],
    ['https://a.example/v1', 'https://a.example/v1/%2e%2e/v2', 'egress_undeclared'],
    ['https://a.example/v1', 'https://a.example/v1/.%2E/v2', 'egress_undeclared'],
    ['https://a.example/v1', 'https://a.example/v1\\..\\v2', 'egress_undeclared'],
    ['https://a.example/v1', 'https://a.example/v1/..%2Fv2', 'egress_undeclared'],
    ['https://a.example/v1', 'https://a.example/v1/..%5Cv2', 'egress_undeclared'],
    ['https://a.example/v1', 'https://a.example/v1/..;/v2', 'egress_undeclared'],
    ['https://a.example/v1', 'https://a.example/v1/%252e%252e%252fv2', 'egress_undeclared'],
    ['https://a.example/v1', 'https://a.example/v1%2Fusers', 'egress_undeclared'],
    ['https://a.example/v1/*', 'https://a.example/v1', 'egress_undeclared'],
    ['https://a.example/v1/*', 'https://a.example/v1/', 'egress_undeclared'],
    ['https://a.example/v1/*/roles', 'https://a.example/v1/a/b/roles', 'egress_undeclared'],
    ['https://a.example/v1/*/roles', 'https://a.example/v1//roles', 'egress_undeclared'],
    ...[
      '%ff%2F..%2F..%2Fadmin',
      '%zz%2F..%2F..%2Fadmin',
      '%2F..',
      '%',
      '%f',
      '%ff',
      '%u002e%u002e/admin',
      '%25u002e%25u002e%25u002fadmin',
      '..%c0%afadmin',
      '..%25c0%25afadmin',
      '%c0%ae%c0%ae/admin',
      '%25c0%25ae%25c0%25ae/admin',
      '%25e0%2580%25ae%25e0%2580%25ae/admin',
      '..%25c1%259cadmin',
      '%25252e%25252e%25252fadmin',
      `%${'25'.repeat(6)}2e%${'25'.repeat(6)}2e/admin`,
      `%${'25'.repeat(40)}2e`,
      '%2525ff%252f..%252f..%252fadmin',
      '%5c..%5c..%5cadmin',
      'x%2f..%2f..%2fadmin',
      '..%00/admin',
      '..%00x/admin',
      '..%09/admin',
      '.%09./admin',
      '..%20/admin',
      '%20../admin',
      '..%0a/admin',
      '..;v=1/admin',
      '..%3Bv=1/admin',
      '..%3fx/admin',
      '..%23/admin',
      '..%EF%BC%8Fadmin',
      '%EF%BC%8E%EF%BC%8E/admin',
      '．．／admin',
    ].map((path) => ['https://a.example/v1', `https://a.example/v1/${path}`, 'egress_undeclared']),
    ['https://a.example/v1/*', 'https://a.example/v1/%ff', 'egress_undeclared'],
    ['https://localhost', 'https://127.0.0.1/', 'egress_undeclared'],
    ['https://127.0.0.1', 'https://[::ffff:127.0.0.1]/', 'egress_undeclared'],
  ])('%s does not cover %s', (rule, url, code) => {
    expect(verdict(rule, url)).toBe(code)
  })
})

describe('the length limits of a URL', () => {
  test.each([
    ['a segment more than 200', `https://a.example${'/%61'.repeat(201)}`, /more than 200 segments/],
    ['a path over 8 KiB', `https://a.example/${'x'.repeat(8192)}`, /path.* over 8192 bytes/],
    ['a path over 8 KiB when it is encoded', `https://a.example/${'ü'.repeat(1400)}`, /8192 bytes/],
    ['an address over 16 KiB', `https://a.example/?${'x'.repeat(16_384)}`, /over 16384 bytes/],
    ['a query over 16 KiB when it is encoded', `https://a.example/?${'ü'.repeat(3000)}`, /16384/],
  ])('refuse %s', async (_what, text, says) => {
    const error = await thrownBy(() => parseUrl(text))
    expect(error).toMatchObject({ code: 'egress_url' })
    expect(error.message).toMatch(says)
    expect(error.message.length).toBeLessThan(200)
  })

  test('allow a URL up to each limit', () => {
    expect(verdict('https://a.example', `https://a.example${'/%61'.repeat(200)}`)).toBe('allowed')
    expect(verdict('https://a.example', `https://a.example/${'x'.repeat(8191)}`)).toBe('allowed')
    expect(verdict('https://a.example', `https://a.example/?${'x'.repeat(16_000)}`)).toBe('allowed')
  })
})

test('parses a path once, regardless of the number of entries', async () => {
  const many = Array.from({ length: 30_000 }, (_, index) => `https://a.example/a${index}/b`)
  const policy = policyOf(many)
  const tookMs = await bestMs(250, () => {
    const url = parseUrl(`https://a.example${'/%2561'.repeat(200)}`)
    expect(() => judgeUrl(url, 'GET', policy)).toThrow()
  })
  expect(tookMs).toBeLessThan(250)
})

describe('a setting in a placeholder', () => {
  test.each([
    ['https://{settings.plain}.a.example', { plain: 'acme-1' }, 'https://acme-1.a.example/'],
    ['https://{settings.plain}.a.example', { plain: 'ACME' }, 'https://acme.a.example/'],
    ['https://{settings.sub}.a.example', { sub: 'eu.acme' }, 'https://eu.acme.a.example/'],
    ['https://{settings.host}:8443/x', { host: 'H.example' }, 'https://h.example:8443/x'],
    ['https://*.{settings.host}', { host: 'h.example' }, 'https://b.h.example/'],
    ['{settings.base}', { base: 'http://h.example:81/a/b/' }, 'http://h.example:81/a/b/c'],
    ['{settings.base}/x/*', { base: 'https://h.example/a' }, 'https://h.example/a/x/1'],
    ['{settings.base}/x', { base: 'https://H.example.' }, 'https://h.example/x'],
    ['https://a.example/{settings.plain}/x', { plain: 'a b' }, 'https://a.example/a%20b/x'],
    ['https://a.example/{settings.plain}/x', { plain: 'a b' }, 'https://a.example/a b/x'],
    ['https://a.example/{settings.plain}', { plain: 'a@b' }, 'https://a.example/a%40b'],
    ['https://a.example/{settings.plain}', { plain: '*' }, 'https://a.example/*'],
    [
      'https://a.example/{settings.plain}',
      { plain: '{settings.sub}' },
      'https://a.example/{settings.sub}',
    ],
    ['https://a.example/t-{settings.tenant}', { tenant: 7 }, 'https://a.example/t-7/x'],
  ])('%s with %j covers %s', (rule, settings, url) => {
    expect(verdict(rule, url, settings)).toBe('allowed')
  })

  test.each([
    ['https://a.example/{settings.plain}', { plain: '*' }, 'https://a.example/x'],
    ['https://a.example/{settings.plain}/x', { plain: 'b' }, 'https://a.example/c/x'],
    ['{settings.base}', { base: 'https://h.example/a' }, 'https://h.example/b'],
    ['{settings.base}', { base: 'https://h.example' }, 'http://h.example/'],
  ])('%s with %j does not cover %s', (rule, settings, url) => {
    expect(verdict(rule, url, settings)).toBe('egress_undeclared')
  })

  const inHost = [
    '../x',
    'a@b',
    'evil.example#',
    'evil.example/',
    'a:81',
    'a\nb',
    'a b',
    '',
    'a?b',
    'a\\b',
    'a.',
    '.a',
    '-a',
    'a..b',
    'a%2eb',
    '*',
    'ａ',
    '[::1]',
    'аpple',
  ]
  test.each([
    ...inHost.map((value) => ['https://{settings.sub}.a.example', 'sub', value]),
    ...inHost.map((value) => ['https://{settings.host}', 'host', value]),
    ...inHost
      .filter((value) => value !== '-a')
      .map((value) => ['https://{settings.plain}.a.example', 'plain', value]),
    ['https://{settings.plain}.a.example', 'plain', 'a.b'],
    ['https://{settings.plain}', 'plain', '2130706433'],
    ['https://{settings.host}', 'host', '0x7f.1'],
    ['https://{settings.host}', 'host', '127.1'],
    ['https://*.{settings.host}', 'host', 'com'],
    ['https://*.{settings.host}', 'host', '10.0.0.1'],
    ...[
      'a/b',
      '..',
      '.',
      'a\\b',
      'a?b',
      'a#b',
      'a%2fb',
      '%',
      'a\nb',
      'a\u0000b',
      'a;b',
      '',
      '\ud800',
    ].map((value) => ['https://a.example/{settings.plain}/x', 'plain', value]),
    ['https://a.example/.{settings.plain}', 'plain', '.'],
    ...[
      'https://u:p@h.example',
      'https://h.example?x',
      'https://h.example/#x',
      'ftp://h.example',
      'javascript:alert(1)',
      'h.example',
      'https://h.example\n.evil.example',
      'https://h.example\\evil',
      'https://h.example/a//b',
      'https://h.example/..%2fx',
      'https://h.example/%252e%252e',
      'https://h.example/%ff',
      'https://h.example/%zz',
    ].map((value) => ['{settings.base}', 'base', value]),
  ])('%s refuses %s = %j', async (rule, name, value) => {
    const error = await thrownBy(() => policyOf([rule!], { [name!]: value }))
    expect(error).toMatchObject({ code: 'egress_setting' })
    expect(error.message).toContain(`settings.${name}`)
  })

  test('that is missing disables its entry, and the message names it', async () => {
    const policy = policyOf(['{settings.base}', 'https://a.example'], {})
    expect(judgeUrl(parseUrl('https://a.example/'), 'GET', policy).field).toBe('egress[1].url')
    const error = await thrownBy(() => judgeUrl(parseUrl('https://b.example/'), 'GET', policy))
    expect(error.message).toContain('settings.base')
  })
})

describe('methods', () => {
  const entry = 'https://a.example'
  const narrow: EgressRule = { url: 'https://a.example', methods: ['PUT'] }
  test.each([
    ['a write capability, any method', policyOf([entry]), 'DELETE', true],
    ['a write capability, an unknown method', policyOf([entry]), 'TRACE', false],
    ['a write capability, CONNECT', policyOf([entry]), 'CONNECT', false],
    ['a read capability, GET', policyOf([entry], {}, { level: 'read' }), 'GET', true],
    ['a read capability, HEAD', policyOf([entry], {}, { level: 'read' }), 'HEAD', true],
    ['a read capability, POST', policyOf([entry], {}, { level: 'read' }), 'POST', false],
    [
      'reads_with POST, POST',
      policyOf([entry], {}, { level: 'read', readsWith: ['POST'] }),
      'POST',
      true,
    ],
    [
      'reads_with POST, PUT',
      policyOf([entry], {}, { level: 'read', readsWith: ['POST'] }),
      'PUT',
      false,
    ],
    ['named methods, one of them', policyOf([narrow], {}, { level: 'read' }), 'PUT', true],
    ['named methods, another', policyOf([narrow]), 'GET', false],
    [
      'named methods are not widened by reads_with',
      policyOf([narrow], {}, { level: 'read', readsWith: ['POST'] }),
      'POST',
      false,
    ],
    [
      'two entries for one address add up',
      policyOf([narrow, { url: 'https://a.example', methods: ['GET'] }]),
      'GET',
      true,
    ],
  ])('%s', (_name, policy, method, allowed) => {
    const run = () => judgeUrl(parseUrl('https://a.example/x'), method, policy)
    if (allowed) expect(run().host).toBe('a.example')
    else expect(run).toThrow(expect.objectContaining({ code: 'egress_undeclared' }))
  })
})

test('names method, origin and path and what to declare, without the query', async () => {
  const url = parseUrl('https://b.example/v1/users?token=hush#frag')
  const error = await thrownBy(() => judgeUrl(url, 'GET', policyOf(['https://a.example'])))
  expect(error.message).toBe(
    'GET https://b.example/v1/users is not allowed: no egress entry covers it. Declare { "url": "https://b.example", "methods": ["GET"] } in connector.json',
  )
})

test('reports a path that cannot be checked, instead of what to declare', async () => {
  const url = parseUrl('https://a.example/v1/%ff%2F..')
  const error = await thrownBy(() => judgeUrl(url, 'GET', policyOf(['https://a.example/v1'])))
  expect(error.message).toMatch(/no egress entry with a path covers .* percent-encoding/)
})

test('removes secrets of the call from the URL in a message, even where it is truncated', async () => {
  const redact = (text: string) => text.replaceAll('hush&hush', '[secret]')
  const policy = policyOf(['https://b.example'], {}, { redact })
  const messageOf = async (path: string) =>
    (await thrownBy(() => judgeUrl(parseUrl(`https://a.example${path}`), 'GET', policy))).message
  expect(await messageOf('/x/hush&hush')).toContain('https://a.example/x/[secret] is not')
  expect(await messageOf('/x/hush%26%68ush')).toContain('https://a.example/x/[secret] is not')
  expect(await messageOf(`/${'x'.repeat(195)}hush&hush`)).not.toContain('hush')
})

test('names the entry that covers the address but not the method', async () => {
  const policy = policyOf(['https://a.example'], {}, { level: 'read' })
  const error = await thrownBy(() => judgeUrl(parseUrl('https://a.example/x'), 'POST', policy))
  expect(error.message).toContain('egress[0].url (https://a.example) allows GET, HEAD. Add "POST"')
  expect(error.message).toContain('reads_with')
})

test('allows nothing without entries', () => {
  expect(() => judgeUrl(parseUrl('https://a.example'), 'GET', policyOf([]))).toThrow()
})
