/** Calls that end before their deadline because their connector was removed. */
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { Manifest } from '../../runtime/contract/connector/manifest.ts'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import type { RequireServed } from '../../runtime/protocol/lane-call.ts'
import { manifestOf } from '../connectors/registry/fixtures/folders.ts'
import { eventually } from '../kit/eventually.ts'
import { callOf, connectorOf, outcome, say } from './fixtures/connectors.ts'
import { openLanes } from './fixtures/lanes.ts'

const MANIFEST = v.parse(Manifest, manifestOf({}))
const never = connectorOf('await new Promise(() => {})')

test('a call waiting for an isolate does not start when its connector is removed; other calls do', async () => {
  const { lanes, ends } = openLanes({ maxIsolates: 1 })
  const begun: string[] = []
  const versionOf = (key: string) => ({ key, digest: key, manifest: MANIFEST })
  const run = (key: string, isolateKey: string, connector = never) =>
    outcome(
      lanes.run(
        'a',
        callOf(connector, {
          isolateKey,
          version: versionOf(key),
          log: ({ message }) => void begun.push(message),
        }),
      ),
    )
  const first = run('gone', 'first')
  await eventually(() => expect(lanes.states()).toMatchObject([{ isolates: 1, calls: 1 }]))
  const tells = connectorOf(`ctx.log.info('begun'); ${say("'done'")}`)
  const waits = run('gone', 'second', tells)
  const other = run('stays', 'third', connectorOf(say("'done'")))
  await eventually(() => expect(lanes.states()).toMatchObject([{ waiting: 2 }]))
  const requireServed: RequireServed = ({ key }) => {
    if (key === 'gone') throw new RuntimeError('connector_unknown', 'taken away')
  }
  lanes.cutOff(requireServed)
  expect(await Promise.all([first, waits, other])).toEqual([
    'connector_unknown',
    'connector_unknown',
    'done',
  ])
  expect(begun).toEqual([])
  expect(ends).toEqual([])
})

test('a call whose worker is still starting ends when its connector is removed', async () => {
  const { lanes } = openLanes()
  const version = { key: 'gone', digest: 'gone', manifest: MANIFEST }
  const running = outcome(lanes.run('a', callOf(never, { version })))
  lanes.cutOff(() => {
    throw new RuntimeError('connector_unknown', 'taken away')
  })
  expect(await running).toBe('connector_unknown')
})

test('a call that has written ends with taken_away instead of connector_unknown', async () => {
  const { lanes } = openLanes()
  const version = { key: 'gone', digest: 'gone', manifest: MANIFEST }
  const running = outcome(lanes.run('a', callOf(never, { version, hasWritten: () => true })))
  await eventually(() => expect(lanes.states()).toMatchObject([{ calls: 1 }]))
  lanes.cutOff(() => {
    throw new RuntimeError('connector_unknown', 'taken away')
  })
  expect(await running).toBe('taken_away')
})

test('a call without a connector version continues', async () => {
  const { lanes } = openLanes()
  const running = outcome(lanes.run('a', callOf(connectorOf(say("'done'")))))
  lanes.cutOff(() => {
    throw new RuntimeError('connector_unknown', 'taken away')
  })
  expect(await running).toBe('done')
})

test('code whose caller has hung up ends when its connector is removed, not at its deadline', async () => {
  const { lanes, ends } = openLanes({ pingMs: 200 })
  const spins = connectorOf(
    `ctx.log.info('begun'); setInterval(() => { const end = Date.now() + 45; while (Date.now() < end); }, 1); await new Promise(() => {})`,
  )
  const orphan = async (key: string, isolateKey: string) => {
    const hangUp = new AbortController()
    const begun = Promise.withResolvers<void>()
    const call = callOf(spins, {
      ...{ isolateKey, signal: hangUp.signal, deadlineMs: 3_600_000 },
      version: { key, digest: key, manifest: MANIFEST },
      log: () => begun.resolve(),
    })
    const running = outcome(lanes.run('a', call))
    await begun.promise
    hangUp.abort()
    expect(await running).toBe('caller_gone')
  }
  await orphan('gone', 'first')
  await orphan('stays', 'second')
  expect(lanes.states()).toMatchObject([{ isolates: 2 }])
  lanes.cutOff(({ key }) => {
    if (key === 'gone') throw new RuntimeError('connector_unknown', 'taken away')
  })
  await eventually(() => expect(lanes.states()).toMatchObject([{ isolates: 1 }]))
  expect(ends).toEqual([])
})
