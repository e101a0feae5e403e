import { DrizzleQueryError } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import { isDatabaseUnavailable } from '../../runtime/database/away.ts'
import { isDiskFull, saysDiskFull, watchDisk } from '../../runtime/database/full-disk.ts'
import { exhausted } from '../../runtime/http/edge/exhausted.ts'
import { statusOfRefusal } from '../../runtime/http/edge/statuses.ts'
import { toCoreError } from '../../runtime/http/edge/to-core-error.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const fault = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more })

test.each(['53100', 'ENOSPC', 'EDQUOT'])('%s, however deep, is a full disk', (code) => {
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
})

test('what is away is not full', () => {
  for (const code of ['57P01', '08006', '53300', 'ECONNREFUSED']) {
    expect(isDiskFull(fault(code))).toBe(false)
    expect(toCoreError(fault(code), 'r').detail).toMatch(/database is unavailable/)
  }
})

test('a missing file, and a system that another connection failed to reach, are not the database', () => {
  expect(isDatabaseUnavailable(fault('ENOENT', { syscall: 'connect' }))).toBe(true)
  expect(isDatabaseUnavailable(fault('ENOENT', { syscall: 'open' }))).toBe(false)
  const unreachable = new RuntimeError('connector_error', 'no', {}, fault('ECONNREFUSED'))
  expect(isDatabaseUnavailable(unreachable)).toBe(false)
  expect(isDatabaseUnavailable(new Error('outer', { cause: unreachable }))).toBe(false)
})

test('the beginning and the end are told once, and it counts as full until a minute after the last refusal', () => {
  const said: string[] = []
  const disk = watchDisk('/data', (text) => said.push(text))
  expect(disk.words()).toBeNull()
  for (let times = 0; times < 10; times += 1) {
    disk.refused()
    vi.advanceTimersByTime(50_000)
    expect(disk.words()).toMatch(/room on the disk.*\/data/)
  }
  expect(said).toHaveLength(1)
  vi.advanceTimersByTime(10_000)
  expect(disk.words()).toBeNull()
  expect(said).toEqual([
    expect.stringMatching(/is full \(\/data\)/),
    expect.stringMatching(/room again/),
  ])
})

test('a server that ends for want of room says so in its own log', () => {
  const line = 'PANIC:  could not write to file "pg_wal/xlogtemp.42": No space left on device'
  expect(saysDiskFull(line)).toBe(true)
  expect(saysDiskFull('LOG:  database system is ready to accept connections')).toBe(false)
})
