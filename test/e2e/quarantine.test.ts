/**
 * Tests that a connector whose worker process keeps dying receives no calls until it is released, and that
 * others are not affected.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fixture, greeter, withToken } from '../fixtures/folders.ts'
import { shows } from '../symptoms.ts'
import { ADMIN_TOKEN, failure, startHost, success, type TestHost } from './host.ts'

let host: TestHost

/** The fixture with a longer deadline: a worker under suspicion gets little time on a busy machine. */
function hazards() {
  const read = (name: string) => readFileSync(path.join(fixture('hazards'), name), 'utf8')
  const limits = { limits: { deadline_ms: 5000, memory_mb: 64 } }
  return {
    'connector.json': { ...JSON.parse(read('connector.json')), ...limits },
    'connector.ts': read('connector.ts'),
  }
}

beforeAll(async () => {
  host = await startHost({
    connectors: { hazards: hazards(), neighbour: greeter('neighbour', 'hello') },
  })
})
afterAll(async () => {
  await host?.stop()
})

const kill = () => host.call('hazards', 'list_accounts', withToken({ custom_attributes: ['kill'] }))
const stateOf = async (id: string) => (await host.operator()).find((row) => row.id === id)

test('a quarantined connector is listed with the reason, counted, and served again after its release', async () => {
  let message = ''
  for (let tries = 0; tries < 60 && !/quarantine/.test(message); tries += 1) {
    const error = failure(await kill())
    // Its next worker has to wait, and may exceed the deadline.
    expect(['service_error', 'request_timeout']).toContain(error.error_code)
    message = error.message
    const { body } = await host.call('neighbour', 'list_accounts', withToken())
    expect(success(body)).toHaveLength(1)
  }
  expect(message).toMatch(/in quarantine: its worker process kept dying; no calls until 20\d\d-/)
  expect(await stateOf('hazards')).toMatchObject({
    state: 'quarantined',
    reason: expect.stringContaining('until it is released'),
  })
  shows('a connector is in quarantine', message)
  expect(await stateOf('neighbour')).toMatchObject({ state: 'ready' })
  expect((await host.send('/metrics')).text).toMatch(/^keyway_connectors_quarantined 1$/m)

  const release = async (id: string) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    const sent = { method: 'POST', headers }
    const { status, text } = await host.send(`/operator/connectors/${id}/release`, sent)
    return { status, body: JSON.parse(text) }
  }
  expect(await release('nobody')).toMatchObject({ status: 404 })
  expect(await release('hazards')).toMatchObject({
    status: 200,
    body: { id: 'hazards', released: true },
  })
  expect(await release('hazards')).toMatchObject({ body: { released: false } })
  const fine = withToken({ custom_attributes: ['fine'] })
  expect(success((await host.call('hazards', 'list_accounts', fine)).body)).toHaveLength(1)
  expect(await stateOf('hazards')).toMatchObject({ state: 'ready' })
})
