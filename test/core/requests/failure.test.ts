/** What is made of a failed step: how long it waits, who is told, and when giving ends. */
import { describe, expect, test } from 'vitest'
import { judgeFailure } from '../../../runtime/core/requests/machine/failure.ts'

const now = new Date('2030-01-01T00:00:00Z')
const inMs = (ms: number) => new Date(now.getTime() + ms)
const DAY_MS = 24 * 3600 * 1000
const fresh = (pendingOperation: 'grant' | 'remove', more: object = {}) => ({
  pendingOperation,
  attempts: 0,
  failingSince: null,
  ...more,
})
const away = { ok: false, end: 'system', code: 'service_error', problem: 'down' } as const
const refused = { ok: false, end: 'refused', problem: 'no' } as const

describe('a step that failed', () => {
  test('because the system is away is tried again, and people are not asked for each one', () => {
    expect(judgeFailure(fresh('grant'), away, now)).toEqual({
      ...{ kind: 'again', attempts: 1, failingSince: now, tell: false },
      wakeAt: inMs(2000),
    })
  })

  test('waits as long as the system asked', () => {
    const asked = { ...away, retryAfterMs: 3_600_000 }
    expect(judgeFailure(fresh('remove'), asked, now)).toMatchObject({ wakeAt: inMs(3_600_000) })
  })

  test('waits longer each time, up to ten minutes for a system and an hour for a call', () => {
    const pauseOf = (attempts: number, failed: Parameters<typeof judgeFailure>[1]) => {
      const verdict = judgeFailure(fresh('remove', { attempts, failingSince: now }), failed, now)
      return verdict.kind === 'again' ? verdict.wakeAt.getTime() - now.getTime() : null
    }
    expect([0, 1, 2, 50].map((attempts) => pauseOf(attempts, away))).toEqual([
      2000, 4000, 8000, 600_000,
    ])
    expect(pauseOf(1000, { ok: false, end: 'call', problem: 'odd' })).toBe(3_600_000)
  })

  test('by a refusal is told at once and tried again in a minute', () => {
    expect(judgeFailure(fresh('remove'), refused, now)).toMatchObject({
      ...{ kind: 'again', tell: true },
      wakeAt: inMs(60_000),
    })
  })

  test('ends after a week where access is given, and never where it is taken away', () => {
    const long = { attempts: 400, failingSince: inMs(-7 * DAY_MS) }
    expect(judgeFailure(fresh('grant', long), away, now)).toEqual({
      kind: 'hands',
      problem: 'down',
    })
    expect(judgeFailure(fresh('remove', long), away, now)).toMatchObject({ kind: 'again' })
  })

  test('is left to people where trying cannot help', () => {
    const manual = { ok: false, end: 'manual', problem: 'no such capability' } as const
    expect(judgeFailure(fresh('remove'), manual, now)).toEqual({
      kind: 'hands',
      problem: 'no such capability',
    })
  })
})
