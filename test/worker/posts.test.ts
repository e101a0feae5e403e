/** Posts of a guest that has taken over parts of the prelude. The real worker runs here, over a pipe. */
import { duplexPair } from 'node:stream'
import ivm from 'isolated-vm'
import { expect, test } from 'vitest'
import { openChannel } from '../../runtime/protocol/channel.ts'
import { serve } from '../../runtime/worker/worker.ts'
import { writersSource } from '../../runtime/worker/writers.ts'
import { bundlePrelude } from './guest/isolate.ts'

/**
 * Runs a call whose handler fetches, in a prelude that posts its fetches as `op`. Returns the kinds of the
 * messages that the worker sent.
 */
async function sentWhen(op: string): Promise<string[]> {
  const [ours, its] = duplexPair()
  const kinds: string[] = []
  const over = Promise.withResolvers<void>()
  const channel = openChannel(
    ours,
    ({ kind, call, head }) => {
      kinds.push(kind)
      if (kind === 'fetch') {
        const reply = { status: 204, url: 'https://a.example/', redirected: false, headers: [] }
        // The cast: messages of this kind have this head.
        const { request } = head as { request: number }
        // A duplex pair delivers synchronously, unlike a pipe.
        setImmediate(() => channel.send('fetched', call, { isolate: 1, request, reply }))
      }
      if (kind === 'reply' || kind === 'disposed') over.resolve()
    },
    over.reject,
  )
  const prelude = (await bundlePrelude()).replaceAll('("fetch",', `(${JSON.stringify(op)},`)
  serve(ivm, its, `${prelude}\n${writersSource()}`, (message) => {
    throw new Error(message)
  })
  const code = `'use strict';globalThis.__connector={default:{async validate_credentials(request, ctx) {
    await Promise.race([ctx.fetch('https://a.example/'), new Promise((go) => setTimeout(go, 200))])
    return { valid: true, unique_tenant_id: 't' }
  }}}`
  const head = { connector: 'd', memoryMb: 64, responseFields: {} }
  await new Promise<void>((sent) => channel.send('load', 0, head, code, sent))
  const capability = 'validate_credentials'
  channel.send(
    'call',
    1,
    { connector: 'd', isolate: 1, capability, raw: false, threaded: true },
    JSON.stringify({ request: {}, settings: {}, auth: null, credentials: null, page: {} }),
  )
  await over.promise
  channel.send('dispose', 0, { isolate: 1 })
  ours.destroy()
  return kinds
}

test('a fetch goes to the host', async () => {
  expect(await sentWhen('fetch')).toEqual(['ready', 'fetch', 'reply'])
})

test('a post with an unknown name is dropped and not treated as a fetch', async () => {
  expect(await sentWhen('flow')).toEqual(['ready', 'reply'])
})
