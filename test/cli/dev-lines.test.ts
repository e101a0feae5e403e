import { expect, test, vi } from 'vitest'
import { callLines, changeLines, createChanges } from '../../runtime/cli/dev-lines.ts'
import type { RegistryListing } from '../../runtime/connectors/registry/registry.ts'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'

const call = {
  connector: 'acme',
  capability: 'get_account',
  known: true,
  served: 'acme@1.0.0',
  seconds: 0.0123,
  requestId: 'r',
  cause: { kind: 'interface', id: 'r' },
  appId: null,
} as const

test('a call is reported with its duration and the error code that its caller received', () => {
  expect(callLines({ ...call, error: null })).toEqual(['acme get_account → ok in 12.3 ms'])
  const threw = new RuntimeError('connector_threw', 'x is not a function', {
    raisedBy: 'TypeError',
    raisedIn: 'acme:get_account (connector.ts:31:12)',
  })
  expect(callLines({ ...call, error: threw })).toEqual([
    'acme get_account → unexpected_error in 12.3 ms',
    '    TypeError: x is not a function, raised in acme:get_account (connector.ts:31:12)',
  ])
  const own = new RuntimeError('connector_error', 'gone', { wire: 'not_found' })
  expect(callLines({ ...call, error: own })[0]).toContain('→ not_found in')
})

test('lines contain no control characters of a capability name or an error message', () => {
  const error = new RuntimeError('capability_unknown', 'no \u001b[2J')
  const lines = callLines({ ...call, capability: 'a\u001b[31m\nb', known: false, error })
  expect(lines.join('')).not.toMatch(/\p{C}/u)
})

const row = (more: Partial<RegistryListing>): RegistryListing => ({
  id: 'acme',
  version: '1.0.0',
  digest: 'd',
  source: 'drop-in',
  state: 'ready',
  reason: null,
  serving: true,
  folder: '/x/acme',
  ...more,
})
const ghost = row({
  id: null,
  version: null,
  state: 'ghost',
  reason: 'no such field',
  serving: false,
})

test('a change is reported once, with the version that is still served', () => {
  expect(changeLines('acme', [row({})])).toEqual(['acme 1.0.0 is served'])
  expect(changeLines('acme', [ghost])).toEqual(['acme is ghost: no such field'])
  expect(changeLines('acme', [row({}), ghost])).toEqual([
    'acme is ghost: no such field',
    '    acme 1.0.0, the previous version, is still served',
  ])
  expect(changeLines('acme', [row({ serving: false, reason: 'the folder is gone' })])).toEqual([
    'acme: the folder is gone',
  ])
})

test('a change that is still being checked is not reported', () => {
  const checking = { ...ghost, state: 'checking' as const, reason: null }
  expect(changeLines('acme', [row({}), checking])).toEqual([])
  expect(changeLines('acme', [checking])).toEqual([])
})

test('rows that arrive in the same tick are one change', async () => {
  const onRows = vi.fn()
  const changes = createChanges(onRows)
  changes(row({}))
  changes(ghost)
  await Promise.resolve()
  changes(row({}))
  await Promise.resolve()
  expect(onRows.mock.calls).toEqual([[[row({}), ghost]], [[row({})]]])
})
