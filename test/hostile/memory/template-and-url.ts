/**
 * Passes texts of half a gigabyte to the parsers of the sandbox: URL, forms, base64, text codecs. Promise 1.
 * Must happen: each parser refuses, or the limit ends it; none exhausts the memory of its worker.
 */
import { defineConnector } from 'keyway/sdk'

const FEEDS = [
  (text) => new URL(`https://a.example/${text}`),
  (text) => new URLSearchParams(text),
  (text) => btoa(text),
  (text) => atob(text),
  (text) => new TextDecoder('utf-16le').decode(new TextEncoder().encode(text)),
  (text) => new Headers({ a: text }),
  (text) => new Response(text),
  (text) => JSON.parse(`"${text}"`),
]

export default defineConnector({
  async list_accounts() {
    const text = 'a'.repeat(2 ** 27)
    for (const feed of FEEDS) {
      try {
        await feed(text)
      } catch {}
    }
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
