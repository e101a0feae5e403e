import { DrizzleQueryError } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import { isDiskFull, saysDiskFull, watchDisk } from '../../runtime/database/full-disk.ts'
import { isDatabaseUnavailable } from '../../runtime/database/unavailable.ts'
import { exhausted } from '../../runtime/http/edge/exhausted-resources.ts'
import { statusOfRefusal } from '../../runtime/http/edge/statuses.ts'
import { toCoreError } from '../../runtime/http/edge/to-core-error.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const fault = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more })

test.each(['53100', 'ENOSPC', 'EDQUOT'])(
  '%s is recognized as a full disk, also as the cause of another error',
  (code) => {
    const thrown = new DrizzleQueryError('insert', [], fault(code))
    expect(isDiskFull(thrown)).toBe(true)
    const refused = toCoreError(thrown, 'r')
    expect([statusOfRefusal(refused), refused.detail]).toEqual([
      503,
      expect.stringMatching(/disk of Keyway is full/),
    ])
    expect(exhausted(thrown)).toMatchObject({
      code: 'host_exhausted',
      message: expect.stringMatching(/disk of the host is full/),
    })
  },
)

test('an unavailable database is not reported as a full disk', () => {
  for (const code of ['57P01', '08006', '53300', 'ECONNREFUSED']) {
    expect(isDiskFull(fault(code))).toBe(false)
    expect(toCoreError(fault(code), 'r').detail).toMatch(/database is unavailable/)
  }
})

test('a missing file and an unreachable connected system do not count as an unavailable database', () => {
  expect(isDatabaseUnavailable(fault('ENOENT', { syscall: 'connect' }))).toBe(true)
  expect(isDatabaseUnavailable(fault('ENOENT', { syscall: 'open' }))).toBe(false)
  const unreachable = new RuntimeError('connector_error', 'no', {}, fault('ECONNREFUSED'))
  expect(isDatabaseUnavailable(unreachable)).toBe(false)
  expect(isDatabaseUnavailable(new Error('outer', { cause: unreachable }))).toBe(false)
})

test('a full disk is reported once when it begins and ends; it ends a minute after the last refusal', () => {
  const messages: string[] = []
  const disk = watchDisk('/data', (text) => messages.push(text))
  expect(disk.words()).toBeNull()
  for (let times = 0; times < 10; times += 1) {
    disk.refused()
    vi.advanceTimersByTime(50_000)
    expect(disk.words()).toMatch(/room on the disk.*\/data/)
  }
  expect(messages).toHaveLength(1)
  vi.advanceTimersByTime(10_000)
  expect(disk.words()).toBeNull()
  expect(messages).toEqual([
    expect.stringMatching(/is full \(\/data\)/),
    expect.stringMatching(/room again/),
  ])
})

test("a line of the server's log about a full disk is recognized", () => {
  const line = 'PANIC:  could not write to file "pg_wal/xlogtemp.42": No space left on device'
  expect(saysDiskFull(line)).toBe(true)
  expect(saysDiskFull('LOG:  database system is ready to accept connections')).toBe(false)
})
