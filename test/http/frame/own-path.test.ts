/** A sign-in redirects only to a page of this host. */
import { expect, test } from 'vitest'
import { ownPath } from '../../../runtime/http/frame/own-path.ts'

test.each(['/', '/access', '/access?q=reports&page=2', '/inbox/6f-1', '/settings/api-tokens'])(
  '%s is a page of this host',
  (path) => expect(ownPath(path)).toBe(path),
)

test.each([
  'https://evil.example/',
  '//evil.example',
  '/\\evil.example',
  '/access//evil.example',
  '/access/../..//evil.example',
  '/docs/../operator',
  '/operator/connectors',
  '/access#x',
  '/access\n',
  '/access?next=//evil.example',
  'access',
  'javascript:alert(1)',
  '',
  `/access?q=${'x'.repeat(600)}`,
])('%j is not a page of this host', (path) => expect(ownPath(path)).toBeNull())

test('dots are resolved before the path is checked', () => {
  expect(ownPath('/access/../operator')).toBeNull()
  expect(ownPath('/access/../inbox')).toBe('/inbox')
})
