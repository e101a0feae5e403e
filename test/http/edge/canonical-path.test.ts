import { expect, test } from 'vitest'
import { pathFault } from '../../../runtime/http/edge/canonical-path.ts'

test.each([
  '/',
  '',
  '/healthz',
  '/connectors/scim/list_accounts',
  '/connectors/my-connector/info?x=//..&y=%6f\\#',
  '/users?search_term=%61',
  '/operator/connectors/a.b',
  '/users/hana%40acme.example',
  '/users/a%20b%2fc%25',
  '/users/%C3%A9t%c3%a9',
  '/users/%E0%A4%A',
  '/integrations/a...b/logo',
  '/integrations/.hidden/logo',
  'http://127.0.0.1:8080/operator',
  'https://keyway.example',
])('%s is a plain path', (target) => {
  expect(pathFault(target)).toBeNull()
})

test.each([
  ['/%6fperator', 'escapes a letter'],
  ['/%6Fperator/connectors', 'escapes a letter'],
  ['/operat%6f%72', 'escapes a letter'],
  ['/%4Fperator', 'escapes a letter'],
  ['/%6detrics', 'escapes a letter'],
  ['/list%5faccounts', 'escapes a letter'],
  ['/list%2Daccounts', 'escapes a letter'],
  ['/a%30', 'escapes a letter'],
  ['/x/%2e%2E/operator', 'escapes a letter'],
  ['/x/.%2e/operator', 'escapes a letter'],
  ['/x/../operator', 'dots'],
  ['/x/..', 'dots'],
  ['/x/..?a', 'dots'],
  ['/./operator', 'dots'],
  ['/operator/.', 'dots'],
  ['//operator', 'empty segment'],
  ['/x//operator', 'empty segment'],
  ['/x\\..\\operator', 'backslash'],
  ['/x%5c..%5Coperator', 'backslash'],
  ['/operator#/x', 'fragment'],
  ['/operator%00', 'control character'],
  ['/operator%0d%0a', 'control character'],
  ['/operator%7F', 'control character'],
  ['operator', 'does not begin with a slash'],
  ['*', 'does not begin with a slash'],
  ['http://x/%6fperator', 'escapes a letter'],
  ['http://x//operator', 'empty segment'],
  ['http://x/y/../operator', 'dots'],
  ['http://x\\operator', 'does not begin with a slash'],
  ['HTTP://x/operator', 'does not begin with a slash'],
])('%s is not a plain path', (target, says) => {
  expect(pathFault(target)).toContain(says)
})
