import { DrizzleQueryError } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { refusalHeaders, statusOfRefusal } from '../../runtime/http/edge/statuses.ts'
import { toCoreError } from '../../runtime/http/edge/to-core-error.ts'

test.each(['40P01', '40001', '55P03'])(
  'a change that PostgreSQL aborts in a conflict (%s) is answered 503 and may be retried',
  (code) => {
    const ended = Object.assign(new Error('deadlock detected'), { code })
    const refused = toCoreError(new DrizzleQueryError('update', [], ended), 'r')
    expect([statusOfRefusal(refused), refusalHeaders(refused)]).toEqual([
      503,
      { 'retry-after': '1' },
    ])
    expect(refused.detail).toMatch(/nothing was done/)
  },
)
