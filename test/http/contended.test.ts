import { DrizzleQueryError } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { toCoreError } from '../../runtime/http/edge/to-core-error.ts'

test.each(['40P01', '40001', '55P03'])(
  'a change that PostgreSQL ended for another one (%s) may be tried again',
  (code) => {
    const ended = Object.assign(new Error('deadlock detected'), { code })
    const { status, headers, detail } = toCoreError(new DrizzleQueryError('update', [], ended), 'r')
    expect([status, headers['retry-after']]).toEqual([503, '1'])
    expect(detail).toMatch(/nothing was done/)
  },
)
