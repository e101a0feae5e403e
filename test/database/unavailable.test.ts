/**
 * Which errors mean that the database is unavailable, or that a change conflicted with another: neither gives
 * a 500.
 */
import { DrizzleQueryError } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { isContended, isTooSlow } from '../../runtime/database/contention.ts'
import {
  AWAY_STATES,
  isDatabaseUnavailable,
  UNREACHABLE,
} from '../../runtime/database/unavailable.ts'
import { refusalHeaders, statusOfRefusal } from '../../runtime/http/edge/statuses.ts'
import { outageOf, toCoreError } from '../../runtime/http/edge/to-core-error.ts'

const fault = (code: string, message = 'as PostgreSQL words it') =>
  new DrizzleQueryError('select', [], Object.assign(new Error(message), { code }))

/** SQLSTATEs of PostgreSQL, or of a pooler in front of it -> their cause. */
const AWAY: Record<string, string> = {
  '08000': 'a connection that broke',
  '08006': 'a connection that broke',
  '08P01': 'a pooler that has no connection to the server',
  '25006': 'a write to a standby',
  '25P03': 'idle_in_transaction_session_timeout',
  '25P04': 'transaction_timeout',
  '28000': 'a role that may not log in here',
  '28P01': 'a password that was changed',
  '3D000': 'a database that is not there (yet)',
  '53200': 'no memory',
  '53300': 'too many clients',
  '55000': 'a database that takes no connections, a lock that recovery does not allow',
  '57P01': 'a shutdown',
  '57P02': 'a crash of another session',
  '57P03': 'a start, a recovery',
  '57P04': 'a database that was dropped, also by a standby that follows',
  '57P05': 'idle_session_timeout',
  '58030': 'a disk that fails',
}

describe('an unavailable database', () => {
  test.each(Object.entries(AWAY))('is recognized by the code %s: %s', (code) => {
    expect(isDatabaseUnavailable(fault(code))).toBe(true)
    const refused = toCoreError(fault(code), 'r')
    expect(statusOfRefusal(refused)).toBe(503)
    expect(refusalHeaders(refused)).toEqual({ 'retry-after': expect.stringMatching(/^[0-9]+$/) })
  })

  test.each(UNREACHABLE)('is recognized by the connection error %s', (code) => {
    expect(isDatabaseUnavailable(fault(code))).toBe(true)
  })

  test.each([
    ['XX000', 'cannot assign TransactionIds during recovery'],
    ['XX000', 'cannot make new WAL entries during recovery'],
  ])('is recognized by the message of %s: %s', (code, message) => {
    expect(isDatabaseUnavailable(fault(code, message))).toBe(true)
  })

  test.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'Query read timeout',
  ])('is recognized by an error of pg without a code: %s', (message) => {
    expect(isDatabaseUnavailable(new DrizzleQueryError('select', [], new Error(message)))).toBe(
      true,
    )
  })

  test('has a case here for every state in AWAY_STATES', () => {
    const codes = Object.keys(AWAY)
    const idle = Object.keys(AWAY_STATES).filter(
      (state) => !codes.some((code) => code.startsWith(state)),
    )
    expect(idle).toEqual([])
  })

  test.each(['23505', '42P01', '42601', '22P02', 'XX000', '54001', '57014', '40001'])(
    'is not recognized by the code %s',
    (code) => {
      expect(isDatabaseUnavailable(fault(code))).toBe(false)
    },
  )
})

describe('a conflict with a concurrent change', () => {
  test.each([
    ['40001', 'canceling statement due to conflict with recovery'],
    ['40P01', 'deadlock detected'],
    ['55P03', 'canceling statement due to lock timeout'],
    ['XX000', 'tuple concurrently updated'],
    ['XX000', 'tuple concurrently deleted'],
  ])('is recognized by %s: %s', (code, message) => {
    expect(isContended(fault(code, message))).toBe(true)
    expect(toCoreError(fault(code, message), 'r')).toMatchObject({
      kind: 'unavailable',
      detail: expect.stringMatching(/nothing was done/),
      retryAfterSeconds: 1,
    })
  })
})

test('a query that took too long, or that an administrator cancelled, is reported as such', () => {
  const late = fault('57014', 'canceling statement due to statement timeout')
  expect([isTooSlow(late), isContended(late)]).toEqual([true, false])
  expect(toCoreError(late, 'r')).toMatchObject({
    kind: 'unavailable',
    detail: expect.stringMatching(/took too long/),
  })
})

test('other errors of a statement stay internal errors', () => {
  for (const code of ['42P01', '23505', 'XX000']) {
    expect(outageOf(fault(code))).toBeNull()
    expect(statusOfRefusal(toCoreError(fault(code), 'r'))).toBe(500)
  }
})

test.each([[null], [undefined], [20]])(
  'an error with the code %s does not mean that the database is unavailable',
  (code) => {
    expect(isDatabaseUnavailable(Object.assign(new Error('refused'), { code }))).toBe(false)
    expect(
      isDatabaseUnavailable(
        new Error('outer', { cause: Object.assign(new Error('in'), { code }) }),
      ),
    ).toBe(false)
  },
)
