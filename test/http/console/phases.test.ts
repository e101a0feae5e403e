/** The phases of a call, derived from its requests. */
import { expect, test } from 'vitest'
import type { CallRecord } from '../../../runtime/contract/endpoints/operator.ts'
import { phaseLook, phasesOf } from '../../../runtime/http/console/phases.ts'

const request = (
  begin_ms: number,
  ms: number,
  more: Partial<CallRecord['upstream'][number]> = {},
): CallRecord['upstream'][number] => ({
  ...{ method: 'GET', host: 'api.example', path: '/', query: '', status: 200, error: null },
  ...{ sent_bytes: 0, received_bytes: 0, begin_ms, ms, ...more },
})

const shownPhases = (ms: number, upstream: CallRecord['upstream']) =>
  phasesOf({ ms, upstream }).map((one) => [one.what, one.beginMs, one.ms])

test('a call consists of its start, its requests in order, the time between them, and its reply', () => {
  expect(shownPhases(100, [request(60, 20), request(10, 30)])).toEqual([
    ['start', 0, 10],
    ['request', 10, 30],
    ['between', 40, 20],
    ['request', 60, 20],
    ['reply', 80, 20],
  ])
})

test('overlapping requests leave no time between them', () => {
  expect(shownPhases(50, [request(0, 50), request(10, 20)])).toEqual([
    ['request', 0, 50],
    ['request', 10, 20],
  ])
})

test('a call without requests is one phase', () => {
  expect(shownPhases(7, [])).toEqual([['all', 0, 7]])
})

test('a denied request and an error answer look different', () => {
  const looks = phasesOf({
    ms: 9,
    upstream: [
      request(0, 1, { error: 'egress_denied', status: null }),
      request(2, 1, { status: 404 }),
    ],
  }).map(phaseLook)
  expect(looks).toEqual(['bad', '', 'wait', ''])
})
