/** One call of a connector, timed at its caller. */
import type { Server } from './server.ts'

export type Envelope = { auth: object; settings?: object; request?: object }

/** A tenant of the bench connector. */
export const tenant = (name: string): Envelope => ({ auth: { token: { token: name } } })

/**
 * Lists a connector's accounts and returns the time in milliseconds.
 *
 * @throws Error with the answer if the call failed.
 */
export async function timedList(
  { url }: Server,
  connector: string,
  envelope: Envelope,
  signal: AbortSignal,
): Promise<number> {
  const begun = performance.now()
  const reply = await fetch(`${url}/connectors/${connector}/list_accounts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ request: {}, ...envelope }),
    signal,
  })
  const text = await reply.text()
  const tookMs = performance.now() - begun
  if (!text.startsWith('{"response"')) throw new Error(`${connector}: ${text.slice(0, 500)}`)
  return tookMs
}
