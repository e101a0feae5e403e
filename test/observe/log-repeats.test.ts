import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLog } from '../../runtime/observe/log.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

type Said = Record<string, unknown> & { msg: string; err?: { stack: string } }

function open(level = 'debug') {
  const lines: Said[] = []
  const log = createLog(level, { write: (line) => void lines.push(JSON.parse(line)) })
  return { log, lines, said: () => lines.map(({ msg }) => msg) }
}

const fault = new Error('no room')

test('a repeated fault is logged once with its stack, then as a count with the request ids', () => {
  const { log, lines, said } = open()
  for (let at = 0; at < 500; at += 1)
    log.error({ err: fault, requestId: `r${at}`, path: '/users' }, `failed; more under r${at}`)
  expect(said()).toEqual(['failed; more under r0'])
  vi.advanceTimersByTime(10_000)
  expect(said()[1]).toBe('failed; more under r0 (repeated 499 times in 10 s)')
  expect(lines[1]).toMatchObject({ level: 50, repeated: 499, seconds: 10, path: '/users' })
  expect(lines[1]?.['request_ids']).toHaveLength(50)
  expect(lines[1]?.err).toBeUndefined()
  expect(lines[1]?.['requestId']).toBeUndefined()
})

test('the intervals between counts grow while a fault goes on, and restart after a quiet interval', () => {
  const { log, said } = open()
  for (let second = 0; second < 3600; second += 1) {
    log.warn({ err: fault }, 'the database')
    vi.advanceTimersByTime(1000)
  }
  expect(said().length).toBeLessThan(15)
  vi.advanceTimersByTime(1_300_000)
  const before = said().length
  log.warn({ err: fault }, 'the database')
  expect(said().slice(before)).toEqual(['the database'])
  const total = said().reduce((sum, text) => sum + Number(/repeated (\d+)/.exec(text)?.[1] ?? 1), 0)
  expect(total).toBe(3601)
})

test('lines that differ in level, message, fields or cause are not repeats', () => {
  const { log, lines } = open()
  log.warn({ path: '/a' }, 'x')
  log.error({ path: '/a' }, 'x')
  log.warn({ path: '/b' }, 'x')
  log.warn({ path: '/a' }, 'y')
  log.warn({ path: '/a', err: fault }, 'x')
  log.warn({ path: '/a', err: new Error('no room', { cause: new Error('inner') }) }, 'x')
  log.warn('x')
  expect(lines).toHaveLength(7)
})

test('repeated lines of a connector are counted; info lines of the host and debug lines are not', () => {
  const { log, lines } = open()
  for (let at = 0; at < 5; at += 1) {
    log.info({ connector: 'acme', capability: 'list_accounts', requestId: `r${at}` }, 'read')
    log.info({ connector: 'acme' }, 'a connector is served')
    log.debug({ connector: 'acme', capability: 'list_accounts' }, 'upstream request')
  }
  expect(lines.map(({ msg }) => msg).sort()).toEqual([
    ...Array(5).fill('a connector is served'),
    'read',
    ...Array(5).fill('upstream request'),
  ])
})

test('a limited number of lines is remembered, and no count is lost', () => {
  const { log, lines } = open()
  for (let at = 0; at < 1000; at += 1) {
    log.warn({ at }, 'x')
    log.warn({ at }, 'x')
  }
  expect(lines.filter(({ repeated }) => repeated === 1)).toHaveLength(800)
  vi.advanceTimersByTime(10_000)
  expect(lines.filter(({ repeated }) => repeated === 1)).toHaveLength(1000)
  expect(vi.getTimerCount()).toBe(200)
  vi.advanceTimersByTime(20_000)
  expect(vi.getTimerCount()).toBe(0)
})

test('disabled levels stay disabled, and lines with fields that are not JSON are not combined', () => {
  const { log, lines } = open('error')
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  for (let at = 0; at < 3; at += 1) {
    log.warn({ err: fault }, 'x')
    log.error({ circle }, 'x')
  }
  vi.advanceTimersByTime(60_000)
  expect(lines).toHaveLength(3)
})
