/** Hops as an observer sees them: with placeholders instead of secrets, as the connector does. */
import type { CallSecrets } from '../../contract/connector/secrets.ts'
import type { HeaderList } from '../exchange/headers.ts'
import type { hop } from './hop.ts'

/** One hop. `reply` is set when its body was read, and stays null if there was none. */
export type SeenHop = {
  method: string
  url: string
  /** Whether the host sent it, for the manifest's `exchange`. */
  isLogin: boolean
  /** Values of the call's placeholders. */
  secrets: CallSecrets | null
  /** Token of the exchange that was sent with the request: a secret that is not a credential. */
  token: string | null
  reply: { status: number; headers: HeaderList; body: Buffer } | null
}

/** Called when a hop begins. Later data is written into the same object. */
export type OnHop = (hop: SeenHop) => void

/** Returns a function that sends a hop and reports it to `onHop`. */
export function seen(send: typeof hop, isLogin: boolean, onHop: OnHop | undefined): typeof hop {
  if (onHop === undefined) return send
  return async (request, call, policyNow, context) => {
    const { method, url } = request
    const one: SeenHop = { method, url, isLogin, secrets: call.secrets, token: null, reply: null }
    onHop(one)
    const reply = await send(request, call, policyNow, context)
    const { status, headers } = reply
    one.token = reply.token?.value ?? null
    return {
      ...reply,
      discard() {
        one.reply = { status, headers, body: Buffer.alloc(0) }
        reply.discard()
      },
      async read() {
        const body = await reply.read()
        one.reply = { status, headers, body }
        return body
      },
    }
  }
}
