import type { UpstreamReply } from '../contract/connector/context.ts'
import { ConnectorError } from './connector-error.ts'

/**
 * The JSON of an answer, or undefined when it has no body (204, or nothing in it). Any content type
 * will do, since not every system names its JSON so.
 *
 * @throws invalid_response when there is a body and it is not JSON.
 *
 * @example
 * const reply = await api.request('GET', '/users')
 * const users = await readJson<User[]>(reply)
 */
export async function readJson<T = unknown>(
  reply: Pick<UpstreamReply, 'status' | 'url' | 'headers' | 'text'>,
): Promise<T> {
  const text = await reply.text()
  // The cast: an author names the type of what may be empty.
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
