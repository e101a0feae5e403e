import type { UpstreamReply } from '../contract/connector/context.ts'
import { ConnectorError } from './connector-error.ts'

/**
 * Returns the JSON of a response, or undefined if it has no body (204, or an empty one). Any content type is
 * accepted, since not every system labels its JSON correctly.
 *
 * @throws invalid_response if there is a body that is not JSON
 *
 * @example
 * const reply = await api.request('GET', '/users')
 * const users = await readJson<User[]>(reply)
 */
export async function readJson<T = unknown>(
  reply: Pick<UpstreamReply, 'status' | 'url' | 'headers' | 'text'>,
): Promise<T> {
  const text = await reply.text()
  // Cast: the author chooses a type that may be undefined.
  if (text.trim() === '') return undefined as T
  try {
    return JSON.parse(text)
  } catch (cause) {
    const type = reply.headers.get('content-type') ?? 'no content type'
    const address = reply.url.replace(/[?#].*$/s, '')
    throw new ConnectorError(
      'invalid_response',
      `[${reply.status}][${address}] The answer is not JSON (${type})`,
      { status_code: reply.status, cause },
    )
  }
}
