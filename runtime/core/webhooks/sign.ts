/** Signature of a webhook with symmetric keys: https://www.standardwebhooks.com. */
import { createHmac } from 'node:crypto'
import { secretKey, type WebhookSecrets } from './secrets.ts'

/**
 * Returns the three headers that a receiver verifies: `webhook-id` (the same if the message is sent again),
 * `webhook-timestamp` (seconds since the Unix epoch) and `webhook-signature` (`v1,` and HMAC-SHA256 in base64
 * over id, timestamp and body joined by dots; one for each valid key, separated by spaces).
 */
export function signatureHeaders(
  { secret, previous }: Pick<WebhookSecrets, 'secret' | 'previous'>,
  { id, body, now }: { id: string; body: string; now: Date },
): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const secrets = previous && now < new Date(previous.until) ? [secret, previous.secret] : [secret]
  const signed = secrets.map((one) => {
    const mac = createHmac('sha256', secretKey(one)).update(`${id}.${timestamp}.${body}`)
    return `v1,${mac.digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signed.join(' '),
  }
}
