/** When reviews recur, and what the next review looks like. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recur } from '../../../runtime/core/reviews/recur.ts'
import {
  nextOccurrence,
  type Recurrence,
  recurrenceFault,
} from '../../../runtime/core/reviews/recurrence.ts'
import { until } from '../../e2e/until.ts'
import { type Reviewed, startReviewed } from './reviewed.ts'

const START = new Date('2027-01-31T08:00:00Z')

/** The first days of a rule after its start. */
function daysOf(given: Partial<Recurrence>, count: number): string[] {
  const found: string[] = []
  let after = START
  while (found.length < count) {
    const next = nextOccurrence({ config: null, days: null, ...given }, START, after)
    if (next === null) break
    expect(next.toISOString().slice(11)).toBe('08:00:00.000Z')
    found.push(next.toISOString().slice(0, 10))
    after = next
  }
  return found
}

describe('a recurrence rule', () => {
  test.each([
    ['every year', { freq: 0 }, ['2028-01-31', '2029-01-31']],
    ['every month that has the day of the start', { freq: 1 }, ['2027-03-31', '2027-05-31']],
    ['every quarter', { freq: 1, interval: 3, bymonthday: [1] }, ['2027-04-01', '2027-07-01']],
    ['the last day of the month', { freq: 1, bymonthday: [-1] }, ['2027-02-28', '2027-03-31']],
    [
      'the second Tuesday of the month',
      { freq: 1, byweekday: [{ weekday: 1, n: 2 }] },
      ['2027-02-09', '2027-03-09'],
    ],
    [
      'the last Friday of some months',
      { freq: 1, bymonth: [6, 12], byweekday: [{ weekday: 4, n: -1 }] },
      ['2027-06-25', '2027-12-31'],
    ],
    ['every second week', { freq: 2, interval: 2 }, ['2027-02-14', '2027-02-28']],
    // Clocks change on 28 March in Europe and on 14 March in America.
    ['every tenth day', { freq: 3, interval: 10 }, ['2027-02-10', '2027-02-20', '2027-03-02']],
    ['twice in all', { freq: 3, count: 2 }, ['2027-02-01']],
    ['until a day', { freq: 3, until: '2027-02-02T23:00:00Z' }, ['2027-02-01', '2027-02-02']],
    ['on a leap day', { freq: 0, bymonth: [2], bymonthday: [29] }, ['2028-02-29', '2032-02-29']],
    [
      'never, on a day that its month does not have',
      { freq: 0, bymonth: [2], bymonthday: [30] },
      [],
    ],
  ])('recurs: %s', (_, config, wanted) => {
    expect(recurrenceFault({ config, days: null })).toBeNull()
    expect(daysOf({ config }, Math.max(wanted.length, 2)).slice(0, 3)).toEqual(wanted)
  })

  test.each(['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'])(
    'keeps its time of day in UTC across both clock changes in %s',
    (zone) => {
      const before = process.env['TZ']
      process.env['TZ'] = zone
      try {
        // 01:30 UTC is within the hour after the clock changes of Berlin.
        const start = new Date('2027-03-01T01:30:00Z')
        for (const [rule, days] of [
          [{ config: { freq: 3 }, days: null }, 1],
          [{ config: { freq: 2 }, days: null }, 7],
          [{ config: null, days: 5 }, 5],
        ] as const) {
          let at = start
          while (at < new Date('2027-12-01T00:00:00Z')) {
            const next = nextOccurrence(rule, start, at)
            expect(next?.getTime()).toBe(at.getTime() + days * 24 * 3600 * 1000)
            at = next ?? new Date('2999-01-01')
          }
        }
        const monthly = { config: { freq: 1, bymonthday: [28] }, days: null }
        const march = nextOccurrence(monthly, start, new Date('2027-03-02T00:00:00Z'))
        expect(march?.toISOString()).toBe('2027-03-28T01:30:00.000Z')
        const october = nextOccurrence(monthly, start, new Date('2027-10-01T00:00:00Z'))
        expect(october?.toISOString()).toBe('2027-10-28T01:30:00.000Z')
      } finally {
        if (before === undefined) delete process.env['TZ']
        else process.env['TZ'] = before
      }
    },
  )

  const moments = (config: object, start: string, count: number): string[] => {
    const rule = { config: { tzid: 'Europe/Berlin', ...config }, days: null } as Recurrence
    expect(recurrenceFault(rule)).toBeNull()
    const found: string[] = []
    for (let after = new Date(start); found.length < count; ) {
      const next = nextOccurrence(rule, new Date(start), after)
      if (next === null) break
      found.push(next.toISOString().slice(0, 16))
      after = next
    }
    return found
  }

  test('with a time zone keeps its local time of day across both clock changes', () => {
    // 9:00 in Berlin, where clocks change on 28 March and on 31 October 2027.
    expect(moments({ freq: 3 }, '2027-03-26T08:00:00Z', 3)).toEqual([
      ...['2027-03-27T08:00', '2027-03-28T07:00', '2027-03-29T07:00'],
    ])
    expect(moments({ freq: 2 }, '2027-10-20T07:00:00Z', 2)).toEqual([
      ...['2027-10-27T07:00', '2027-11-03T08:00'],
    ])
    // 0:30 on the first of a month in Berlin is the day before in UTC.
    expect(moments({ freq: 1, bymonthday: [1] }, '2027-02-28T23:30:00Z', 2)).toEqual([
      ...['2027-03-31T22:30', '2027-04-30T22:30'],
    ])
  })

  test('recurs once at a time that a clock change skips or repeats', () => {
    // 2:30 in Berlin: skipped on 28 March, repeated on 31 October.
    expect(moments({ freq: 3 }, '2027-03-27T01:30:00Z', 2)).toEqual([
      ...['2027-03-28T01:30', '2027-03-29T00:30'],
    ])
    expect(moments({ freq: 3, count: 4 }, '2027-10-29T00:30:00Z', 9)).toEqual([
      ...['2027-10-30T00:30', '2027-10-31T00:30', '2027-11-01T01:30'],
    ])
    expect(moments({ freq: 3, until: '2027-10-31T00:30:00Z' }, '2027-10-29T00:30:00Z', 9)).toEqual([
      ...['2027-10-30T00:30', '2027-10-31T00:30'],
    ])
  })

  test('can be a number of days', () => {
    expect(daysOf({ days: 90 }, 2)).toEqual(['2027-05-01', '2027-07-30'])
  })

  test.each([
    [{ config: { freq: 4 }, days: null }],
    [{ config: { freq: 1, byhour: [3] }, days: null }],
    [{ config: { freq: 1, interval: 0 }, days: null }],
    [{ config: { freq: 1, bymonthday: [0] }, days: null }],
    [{ config: { freq: 1, bymonth: [13] }, days: null }],
    [{ config: { freq: 2, byweekday: [{ weekday: 1, n: 2 }] }, days: null }],
    [{ config: { freq: 1, until: 'never' }, days: null }],
    [{ config: { freq: 1, tzid: 'Europe/Nowhere' }, days: null }],
    [{ config: { freq: 1, tzid: '+02:00' }, days: null }],
    [{ config: { freq: 1 }, days: 3 }],
    [{ config: null, days: 0 }],
  ])('is refused: %j', (recurrence) => {
    expect(recurrenceFault(recurrence)).toMatch(/recurrence/)
  })
})

describe('a review', () => {
  let firm: Reviewed
  beforeAll(async () => {
    firm = await startReviewed()
  })
  afterAll(() => firm.stop())

  test('that recurs is created again with its apps and their settings, once per date', async () => {
    const appId = await firm.synced()
    const id = await firm.made({
      recurrence_days_frequency: 30,
      apps: [{ id: appId, review_type: 'ACCOUNTS' }],
    })
    await firm.reaches(id, 'IN_PROGRESS')
    expect(await firm.read(id)).toMatchObject({ recurrence_days_frequency: 30 })
    await firm.core.db.execute(sql`update access_reviews set next_at = now() where id = ${id}`)
    const list = async () => (await firm.core.call('GET', '/access_reviews')).body.items
    const next = await until('the next review is created', async () =>
      (await list()).find((one: { creation_path: string }) => one.creation_path === 'RECURRENCE'),
    )
    expect(next).toMatchObject({ apps: [{ domain_app_id: appId, review_type: 'ACCOUNTS' }] })
    expect(next.recurrence_days_frequency).toBeNull()
    await firm.reaches(next.id, 'IN_PROGRESS')
    expect(await firm.lines(next.id)).toHaveLength(4)
    expect(await list()).toHaveLength(2)
  })

  test('recurs once when the clock jumps over several dates, and not again when it is set back', async () => {
    const id = await firm.made({ recurrence_days_frequency: 30 })
    const { db } = firm.core
    const DAY_MS = 24 * 3600 * 1000
    const began = Date.now()
    const look = async (days: number) => {
      const now = async () => new Date(began + days * DAY_MS)
      await db.transaction((tx) => recur(tx, id, { now, send: async () => undefined }))
      const { rows } = await db.execute<{ made: number; next: string }>(sql`
        select (select count(*)::int from access_reviews where follows_id = ${id}) as made,
          next_at::text as next from access_reviews where id = ${id}`)
      const next = (new Date(rows[0]?.next ?? 0).getTime() - began) / DAY_MS
      return [rows[0]?.made, Math.round(next)]
    }
    expect(await look(29)).toEqual([0, 30])
    expect(await look(100)).toEqual([1, 120])
    for (const days of [30, 31, 60, 100, 119]) expect(await look(days)).toEqual([1, 120])
    expect(await look(121)).toEqual([2, 150])
    // A date computed while the clock was far ahead is computed again when the rule is sent.
    expect(await look(3000)).toEqual([3, 3030])
    const again = await firm.core.call('PATCH', `/access_reviews/${id}`, {
      body: { recurrence_days_frequency: 30 },
    })
    expect(again.status).toBe(200)
    expect(await look(1)).toEqual([3, 30])
  })

  test('is refused with an unsupported rule', async () => {
    const body = { name: 'Odd', deadline_at: '2999-01-01', recurrence_config: { freq: 6 } }
    expect((await firm.post('/access_reviews', body)).status).toBe(400)
  })
})
