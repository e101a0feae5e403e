import { describe, expect, test } from 'vitest'
import type { Fields } from '../../../runtime/contract/connector/settings.ts'
import { checkRules } from '../../../runtime/egress/rules/url-template.ts'

const FIELDS: Fields = {
  sub: { type: 'string', pattern: '^[a-z0-9-]+$' },
  plain: { type: 'string' },
  host: { type: 'string', format: 'hostname' },
  base: { type: 'string', format: 'url' },
  mail: { type: 'string', format: 'email' },
  hidden: { type: 'string', secret: true },
  hidden_base: { type: 'string', format: 'url', secret: true },
  tenant: { type: 'integer' },
  flag: { type: 'boolean' },
}

const check = (url: string) => checkRules([{ url }], FIELDS)

describe('accepts', () => {
  test.each([
    'https://api.acme.example',
    'https://api.acme.example/',
    'HTTPS://API.acme.example/v1/users',
    'api.acme.example/v1',
    'http://legacy.acme.example:8080/x',
    'https://*.acme.example',
    'https://{settings.sub}.acme.example',
    'https://acme-{settings.plain}.example/v1/*',
    'https://*.{settings.host}/v1',
    'https://{settings.host}:8443',
    '{settings.base}',
    '{settings.base}/api/{settings.tenant}/*/x',
    'https://[2001:db8::1]:8443/x',
    'https://discord.example/users/@me',
    'https://xn--bcher-kva.example',
    'https://a.example/with%20space',
  ])('%s', (url) => {
    expect(check(url)).toEqual([])
  })
})

describe('rejects', () => {
  test.each([
    ['ftp://a.example', 'only https:// and http://'],
    ['https://', 'names no host'],
    ['https:///x', 'names no host'],
    ['https://user:pw@a.example', 'user info'],
    ['https://a.example@evil.example', 'user info'],
    ['https://a.example?x=1', 'has a query'],
    ['https://a.example/#x', 'has a fragment'],
    ['https://a.example\\b', 'backslash'],
    ['https://a.example/ b', 'white space'],
    ['https://a.example/\tb', 'white space'],
    ['https://a.example:0', 'port'],
    ['https://a.example:', 'port'],
    ['https://a.example:65536', 'port'],
    ['https://a.example:x', 'no number'],
    ['https://a.*.example', 'only one leading label'],
    ['https://*a.example', 'only one leading label'],
    ['https://*.*.example', 'only one leading label'],
    ['https://*', 'only one leading label'],
    ['https://*.example', 'top-level domain'],
    ['https://*.10.0.0.1', 'wildcard before an address'],
    ['https://a..example', 'empty label'],
    ['https://a.example.', 'empty label'],
    ['https://bücher.example', 'xn--'],
    ['https://0x7f.1', 'read as 127.0.0.1'],
    ['https://2130706433', 'read as 127.0.0.1'],
    ['https://127.1', 'read as 127.0.0.1'],
    ['https://a%2eexample', 'not a host name'],
    ['https://a.example/x//y', 'empty path segment'],
    ['https://a.example//', 'empty path segment'],
    ['https://a.example/x/../y', '. or .. segment'],
    ['https://a.example/%2e%2e/y', '. or .. segment'],
    ['https://a.example/a*', 'whole segment'],
    ['https://a.example/100%', 'percent-encoding'],
    ['https://{settings.nope}.example', 'settings.nope, which is not declared'],
    ['https://a.example/{settings.nope}', 'settings.nope, which is not declared'],
    ['{settings.nope}/x', 'settings.nope, which is not declared'],
    ['{settings.host}/x', 'not the format url'],
    ['https://{settings.base}/x', 'format url'],
    ['https://{settings.mail}/x', 'format email'],
    ['https://{settings.tenant}.example', 'no string'],
    ['https://{settings.hidden}.example', 'secret'],
    ['https://a.example/{settings.hidden}', 'secret'],
    ['{settings.hidden_base}', 'secret'],
    ['https://a.example/{settings.flag}', 'boolean'],
    ['https://a.example/{auth.token}', 'no placeholder'],
    ['https://{sub}.example', 'no placeholder'],
    ['https://a.example/{settings.sub', 'no placeholder'],
    ['https://a.example:{settings.tenant}', 'no number'],
  ])('%s: %s', (url, words) => {
    const findings = check(url)
    expect(findings).toHaveLength(1)
    expect(findings[0]).toContain(words)
  })
})

test('names the field and the template in a finding', () => {
  expect(checkRules([{ url: 'https://ok.example' }, { url: 'ftp://x' }], {})).toEqual([
    'egress[1].url: "ftp://x" has the scheme ftp://: only https:// and http:// can be fetched',
  ])
})
