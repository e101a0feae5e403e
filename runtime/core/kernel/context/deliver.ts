/** What the core needs of egress to send webhooks, as functions that main hands in. */

/** How one was answered; `problem` names host and port, never the path or a header's value. */
type DeliveryReply = { ok: true; status: number; body: Buffer } | { ok: false; problem: string }

export type Deliver = {
  /** Why an address, or headers of these names, will never be sent, as text; null if they may be. */
  refuse(url: string, headerNames: readonly string[]): string | null
  /** Sends a POST once: nothing is tried again, no redirect is followed. */
  post(delivery: {
    url: string
    headers: Readonly<Record<string, string>>
    body: string
    signal: AbortSignal
  }): Promise<DeliveryReply>
}
