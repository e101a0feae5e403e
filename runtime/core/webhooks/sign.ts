/** The signature of a webhook: https://www.standardwebhooks.com, symmetric keys. */
import { createHmac } from 'node:crypto'
import { secretKey, type WebhookSecrets } from './secrets.ts'

/**
 * The three headers that a receiver verifies: `webhook-id` (the same for the same message sent again),
 * `webhook-timestamp` (seconds since the Unix epoch), `webhook-signature` (`v1,` and HMAC-SHA256 in base64 over
 * id, timestamp and body joined by dots; one for each key that is good, with a space between).
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
