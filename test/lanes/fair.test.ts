/** One connector floods a worker that it shares with others. The workers are real. */
import { expect, test } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { callOf, connectorOf, outcome, say } from './fixtures/connectors.ts'
import { openLanes } from './fixtures/lanes.ts'

test('a connector whose tenants flood a shared worker leaves an isolate for other connectors', async () => {
  const { lanes, ends } = openLanes({ maxIsolates: 8, maxWaiting: 16 })
  const floods = connectorOf('await new Promise(() => {})')
  const hello = connectorOf(say("'hello'"))
  const flood = Array.from({ length: 40 }, (_, tenant) =>
    outcome(lanes.run('shared', callOf(floods, { isolateKey: `${tenant}`, deadlineMs: 4000 }))),
  )
  await eventually(() => expect(lanes.states()).toMatchObject([{ isolates: 6, waiting: 16 }]))
  expect(await outcome(lanes.run('shared', callOf(hello)))).toBe('hello')
  expect(lanes.states()).toMatchObject([{ calls: 22 }])
  const codes = await Promise.all(flood)
  expect(new Set(codes)).toEqual(new Set(['queue_full', 'deadline_passed']))
  expect(ends).toEqual([])
})

test('a tenant whose calls fill the queue of a worker loses one to a tenant with none in it', async () => {
  const { lanes } = openLanes({ maxIsolates: 1, maxWaiting: 4 })
  const waits = connectorOf(`await new Promise((go) => setTimeout(go, 500)); ${say("'done'")}`)
  const run = (isolateKey: string) =>
    outcome(lanes.run(waits.digest, callOf(waits, { isolateKey })))
  const first = run('first')
  await eventually(() => expect(lanes.states()).toMatchObject([{ isolates: 1 }]))
  const flood = Array.from({ length: 4 }, () => run('flood'))
  await eventually(() => expect(lanes.states()).toMatchObject([{ waiting: 4 }]))
  const other = run('other')
  expect(await Promise.all([first, ...flood, other])).toEqual([
    'done',
    'done',
    'done',
    'done',
    'queue_full',
    'done',
  ])
})
