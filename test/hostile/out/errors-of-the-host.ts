/**
 * Provokes errors in the host and inspects where they come from. Promise 2.
 * Must happen: each error is the isolate's own, without a path, a frame or a realm of the host.
 */
import { defineConnector } from 'keyway/sdk'

const PROVOKE = [
  () => new URL('http://['),
  () => new TextDecoder('no-such-encoding'),
  () => new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])),
  () => crypto.getRandomValues(new Uint8Array(1 << 20)),
  () => crypto.subtle.importKey('raw', new Uint8Array(1), 'nonsense', false, ['sign']),
  () =>
    crypto.subtle.importKey(
      'pkcs8',
      new Uint8Array(9),
      { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
      false,
      ['sign'],
    ),
  () => crypto.subtle.digest('SHA-0', new Uint8Array(1)),
  () => structuredClone(() => {}),
  () => atob('*'),
  () => new Headers({ 'a b': 'c' }),
  () => setTimeout(Symbol('x')),
]

export default defineConnector({
  async list_accounts(_request, ctx) {
    const found = []
    const stacks = []
    for (const provoke of [
      ...PROVOKE,
      () => ctx.fetch('file:///etc/passwd'),
      () => ctx.fetch(`${ctx.settings.base_url}`),
    ]) {
      try {
        await provoke()
      } catch (error) {
        stacks.push(`${error.stack} ${error.message} ${error.cause}`)
        try {
          if (error.constructor.constructor('return typeof process')() !== 'undefined')
            found.push('ESCAPED by an error')
        } catch {}
        if (!(error instanceof Error) && typeof error.error_code !== 'string')
          found.push('ESCAPED an error of another realm')
      }
    }
    return [...found, ...stacks].map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
