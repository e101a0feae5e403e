/** What stands for the network, in the test kit, as a stand-in for directories and databases: it answers like any upstream. */
import type { ExchangeOptions, exchange } from '../exchange/exchange.ts'
import type { StandIn } from './hop.ts'

/** Makes the stand-in of an exchange; nothing that it sends is counted or paced. */
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
