/** A later grant of the operator applies at once, even where a worker has already loaded the code. */
import { expect, test } from 'vitest'
import { callOf, connectorOf, outcome, say } from './fixtures/connectors.ts'
import { openLanes } from './fixtures/lanes.ts'

test('a changed memory limit gives a tenant a new isolate in the same worker', async () => {
  const { lanes } = openLanes()
  const few = connectorOf(
    `const kept = []
    for (let one = 0; one < 40; one += 1) kept.push(new Array(131072).fill(one + 0.5))
    ${say('kept.length')}`,
    '',
    16,
  )
  const ask = (memoryMb: number) =>
    outcome(lanes.run('a', callOf({ ...few, memoryMb }, { hasWritten: () => true })))
  expect(await ask(16)).toBe('isolate_memory')
  const pid = lanes.states()[0]?.pid
  expect(await ask(128)).toBe('40')
  expect(await ask(16)).toBe('isolate_memory')
  expect(lanes.states()[0]?.pid).toBe(pid)
})

test('response fields that are granted after the first call are let through', async () => {
  const { lanes } = openLanes()
  const before = connectorOf("return { valid: true, unique_tenant_id: 't', plan: 'gold' }")
  const ask = async (connector: typeof before) => {
    const { reply, body, isEnvelope } = await lanes.run('a', callOf(connector))
    if (!reply.ok) return reply
    const value = JSON.parse(`${body}`)
    return isEnvelope ? value.response : value
  }
  expect(await ask(before)).toMatchObject({ ok: false })
  const plan = { type: 'string' as const, title: 'Plan' }
  const granted = { ...before, responseFields: { validate_credentials: { plan } } }
  expect(await ask(granted)).toMatchObject({ plan: 'gold' })
})
