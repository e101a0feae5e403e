import { expect, test } from 'vitest'
import { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { statusOfRefusal } from '../../../runtime/http/edge/statuses.ts'
import { toCoreError } from '../../../runtime/http/edge/to-core-error.ts'

const systemError = (code: string) => Object.assign(new Error(code), { code })

test.each([
  ['a host that stops', new RuntimeError('stopping', 'the runtime is stopping'), /is stopping/],
  [
    'a host without file descriptors',
    systemError('EMFILE'),
    /run out of system resources; try again later/,
  ],
  ['a host without room on its disk', systemError('ENOSPC'), /disk of Keyway is full/],
  ['a database that is away', systemError('ECONNREFUSED'), /database is unavailable; try again/],
])('%s is answered 503 with the reason and a retry time', (_what, thrown, words) => {
  const error = toCoreError(thrown, 'r-1')
  expect(statusOfRefusal(error)).toBe(503)
  expect(error.detail).toMatch(words)
  expect(error.retryAfterSeconds).toBeGreaterThan(0)
})

test('an error of the caller is explained, and a defect only names its request', () => {
  const asked = toCoreError(new RuntimeError('path_not_canonical', 'the path is odd'), 'r-1')
  expect([statusOfRefusal(asked), asked.detail]).toEqual([400, 'the path is odd'])
  const defect = toCoreError(new Error('secret inside'), 'r-1')
  expect(statusOfRefusal(defect)).toBe(500)
  expect(defect.detail).toMatch(/see r-1 in its log/)
  expect(defect.detail).not.toContain('secret')
})
