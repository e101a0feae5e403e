import { expect, test } from 'vitest'
import { isGranted, parsePrivateGrants } from '../../../runtime/egress/limits/grants.ts'

test('reads names, IPv4 and bracketed IPv6, several for one connector', () => {
  const grants = parsePrivateGrants(
    ' acme-crm=LDAP.internal.:636  acme_crm=10.0.0.5:08443\nother=[FD00:0::1]:443 ',
  )
  expect(grants).toEqual(
    new Map([
      ['acme_crm', new Set(['ldap.internal:636', '10.0.0.5:8443'])],
      ['other', new Set(['[fd00::1]:443'])],
    ]),
  )
})

test('reads an empty text as no grants', () => {
  expect(parsePrivateGrants('  ').size).toBe(0)
})

test.each([
  ['acme', 'is not connector_id=host:port'],
  ['acme=10.0.0.5', 'is not connector_id=host:port'],
  ['acme=:443', 'no valid host'],
  ['acme=fd00::1:443', 'no valid host'],
  ['acme=a/b:443', 'no valid host'],
  ['acme=a@b:443', 'no valid host'],
  ['acme=http://a:443', 'no valid host'],
  ['acme=*.internal:443', 'no valid host'],
  ['acme=10.0.0.5:443,crm=10.0.0.6:443', 'holds a comma: entries are separated by spaces'],
  ['acme=a:0', 'no valid port'],
  ['acme=a:70000', 'no valid port'],
  ['Acme=a:443', 'no valid connector id'],
  ['=a:443', 'is not connector_id=host:port'],
])('refuses %s: %s', (entry, words) => {
  const run = () => parsePrivateGrants(`ok=a:1 ${entry}`)
  expect(run).toThrow(`"${entry}"`)
  expect(run).toThrow(words)
  expect(run).toThrow('acme=10.0.0.5:8443')
})

test.each([
  ['acme-x', 'https://internal.example/', true],
  ['acme_x', 'https://internal.example:443/x', true],
  ['acme_x', 'https://INTERNAL.example/', true],
  ['acme_x', 'http://internal.example/', false],
  ['acme_x', 'https://internal.example:8443/', false],
  ['acme_x', 'https://other.example/', false],
  ['acme', 'https://internal.example/', false],
])('a grant for acme_x=internal.example:443: %s to %s is %s', (id, url, granted) => {
  const grants = parsePrivateGrants('acme_x=internal.example:443')
  expect(isGranted(grants, id, new URL(url))).toBe(granted)
})
