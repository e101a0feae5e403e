/** Hops as an onlooker sees them: with placeholders in the place of secrets, as the connector does. */
import type { CallSecrets } from '../../contract/connector/secrets.ts'
import type { HeaderList } from '../exchange/headers.ts'
import type { hop } from './hop.ts'

/** One hop; `reply` is there once its body was read, and stays null where there was none. */
export type SeenHop = {
  method: string
  url: string
  /** Whether the host made it, for the manifest's `exchange`. */
  isLogin: boolean
  /** What the placeholders of the call stand for. */
  secrets: CallSecrets | null
  /** The token of the exchange that was sent along: a secret that is no credential. */
  token: string | null
  reply: { status: number; headers: HeaderList; body: Buffer } | null
}

/** Told of each hop when it begins; what comes later is written into the same object. */
export type OnHop = (hop: SeenHop) => void

/** The same way to send a hop, looked on. */
export function seen(send: typeof hop, isLogin: boolean, onHop: OnHop | undefined): typeof hop {
  if (onHop === undefined) return send
  return async (request, call, policyNow, means) => {
    const { method, url } = request
    const one: SeenHop = { method, url, isLogin, secrets: call.secrets, token: null, reply: null }
    onHop(one)
    const reply = await send(request, call, policyNow, means)
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
