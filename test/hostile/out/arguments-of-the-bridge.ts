/**
 * Passes Proxies and odd objects to every function of the sandbox, to see which code accesses them. Promise
 * 2.
 * Must happen: only the isolate's own code does; no host object is ever a receiver or an argument.
 */
import { defineConnector } from 'keyway/sdk'

const found = new Set()
const seen = (value) => {
  try {
    if (
      value?.constructor?.constructor?.('return typeof process')() !== 'undefined' &&
      value !== undefined
    )
      if (value.constructor.constructor('return typeof process')() === 'object')
        found.add('ESCAPED by an argument')
  } catch {}
}
const spy = new Proxy(function spied() {}, {
  get: (_target, key, receiver) => (
    seen(receiver),
    key === Symbol.toPrimitive ? () => 'x' : key === 'length' ? 1 : key === 'done' ? true : spy
  ),
  apply: (_target, self, given) => (seen(self), given.forEach(seen), 'x'),
  has: () => true,
  ownKeys: () => ['length', 'name', 'prototype'],
})

export default defineConnector({
  async list_accounts(_request, ctx) {
    const functions = [
      (value) => ctx.fetch(value, value),
      (value) => ctx.raw(value),
      (value) => ctx.log.info(value, value),
      (value) => ctx.basic(value, value),
      (value) => console.log(value),
      (value) => new URL(value, value),
      (value) => new URLSearchParams(value),
      (value) => new Request(value, value),
      (value) => new Response(value, value),
      (value) => new Headers(value),
      (value) => new Blob(value, value),
      (value) => new TextEncoder().encode(value),
      (value) => crypto.getRandomValues(value),
      (value) => crypto.subtle.digest(value, value),
      (value) => crypto.subtle.importKey(value, value, value, value, value),
      (value) => AbortSignal.any(value),
      (value) => AbortSignal.timeout(value),
      (value) => new Event(value, value),
    ]
    for (const one of functions) {
      try {
        await Promise.race([one(spy), new Promise((resolve) => setTimeout(resolve, 5))])
      } catch (error) {
        seen(error)
      }
    }
    ctx.raw({})
    return [...found].map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
