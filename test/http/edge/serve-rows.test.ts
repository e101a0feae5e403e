/** Timeouts of answers, and answers that arrive too late. */
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import type { Env } from '../../../runtime/http/edge/env.ts'
import { serveRows } from '../../../runtime/http/edge/serve-rows.ts'

/** An interface of one path, whose answers wait for a gate. */
function served() {
  const gate = Promise.withResolvers<Response>()
  const routes = new Hono<Env>()
  const statuses: number[] = []
  serveRows(routes, {
    rows: ['GET', 'POST'].map((method) => [method, { method, path: '/list' }] as const),
    answer: () => gate.promise,
    refuse: (c) => c.text('too late', 503),
    wrongMethod: (c) => c.text('', 405),
    onAnswer: (_name, status) => void statuses.push(status),
    readMs: 1,
  })
  const ask = async (method: string) => routes.request('/list', { method })
  return { ask, gate, statuses }
}

test('a list that arrives after its reader was refused is cancelled', async () => {
  const { ask, gate, statuses } = served()
  expect((await ask('GET')).status).toBe(503)
  const cancelled = Promise.withResolvers<void>()
  gate.resolve(new Response(new ReadableStream({ cancel: () => cancelled.resolve() })))
  await cancelled.promise
  expect(statuses).toEqual([503])
})

test('a failure after the reader was refused is ignored', async () => {
  const { ask, gate, statuses } = served()
  expect((await ask('GET')).status).toBe(503)
  gate.reject(new Error('the database came back, and ended it'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(statuses).toEqual([503])
})

test('a change is awaited without a timeout', async () => {
  const { ask, gate, statuses } = served()
  const asked = ask('POST')
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(statuses).toEqual([])
  gate.resolve(new Response('done'))
  expect(await (await asked).text()).toBe('done')
})
