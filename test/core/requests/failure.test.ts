/** The verdict on a failed step: how long it waits, whether people are told, and when it is given up. */
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
const away = { ok: false, fault: 'system', code: 'service_error', problem: 'down' } as const
const refused = { ok: false, fault: 'refused', problem: 'no' } as const

describe('a step that failed', () => {
  test('is retried without telling people when the system is unavailable', () => {
    expect(judgeFailure(fresh('grant'), away, now)).toEqual({
      ...{ kind: 'again', attempts: 1, failingSince: now, tell: false },
      wakeAt: inMs(2000),
    })
  })

  test('waits as long as the system asked', () => {
    const asked = { ...away, retryAfterMs: 3_600_000 }
    expect(judgeFailure(fresh('remove'), asked, now)).toMatchObject({ wakeAt: inMs(3_600_000) })
  })

  test('backs off, up to ten minutes for an unavailable system and up to an hour for a failed call', () => {
    const pauseOf = (attempts: number, failed: Parameters<typeof judgeFailure>[1]) => {
      const verdict = judgeFailure(fresh('remove', { attempts, failingSince: now }), failed, now)
      return verdict.kind === 'again' ? verdict.wakeAt.getTime() - now.getTime() : null
    }
    expect([0, 1, 2, 50].map((attempts) => pauseOf(attempts, away))).toEqual([
      2000, 4000, 8000, 600_000,
    ])
    expect(pauseOf(1000, { ok: false, fault: 'call', problem: 'odd' })).toBe(3_600_000)
  })

  test('is reported at once and retried in a minute when the system refused it', () => {
    expect(judgeFailure(fresh('remove'), refused, now)).toMatchObject({
      ...{ kind: 'again', tell: true },
      wakeAt: inMs(60_000),
    })
  })

  test('is handed to people after a week when it grants access, and never when it removes access', () => {
    const long = { attempts: 400, failingSince: inMs(-7 * DAY_MS) }
    expect(judgeFailure(fresh('grant', long), away, now)).toEqual({
      kind: 'manual',
      problem: 'down',
    })
    expect(judgeFailure(fresh('remove', long), away, now)).toMatchObject({ kind: 'again' })
  })

  test('is handed to people at once when a retry cannot help', () => {
    const manual = { ok: false, fault: 'manual', problem: 'no such capability' } as const
    expect(judgeFailure(fresh('remove'), manual, now)).toEqual({
      kind: 'manual',
      problem: 'no such capability',
    })
  })
})
