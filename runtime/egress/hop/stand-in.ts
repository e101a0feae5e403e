/**
 * Makes the test kit's replacement of the network answer for directories and databases, as for any upstream.
 */
import type { ExchangeOptions, exchange } from '../exchange/exchange.ts'
import type { StandIn } from './hop.ts'

/** Returns a stand-in that asks `answer`. Its requests are neither counted nor paced. */
export const createStandIn =
  (
    answer: typeof exchange,
    shared: Pick<ExchangeOptions, 'dispatcher' | 'limits' | 'userAgent'>,
  ): StandIn =>
  async (address, method, body, signal) => {
    const request = { url: address, method, headers: [], body }
    const reply = await answer(new URL(address), request, {
      ...shared,
      proxied: false,
      signal,
      onSend: () => {},
      onBytes: () => {},
      onDecoded: () => {},
      read: () => 0,
      inTurn: (work) => work(),
    })
    return { status: reply.status, body: await reply.read() }
  }
