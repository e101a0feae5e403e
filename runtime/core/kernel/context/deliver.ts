/** Interface of the core to egress for sending webhooks, as functions that main passes in. */

/** Result of a delivery. `problem` names host and port, never the path or a header's value. */
type DeliveryReply = { ok: true; status: number; body: Buffer } | { ok: false; problem: string }

export type Deliver = {
  /**
   * Returns the reason why this address or these header names will never be sent, as text, or null if they
   * may be.
   */
  refuse(url: string, headerNames: readonly string[]): string | null
  /** Sends a POST once, without retries or redirects. */
  post(delivery: {
    url: string
    headers: Readonly<Record<string, string>>
    body: string
    signal: AbortSignal
  }): Promise<DeliveryReply>
}
