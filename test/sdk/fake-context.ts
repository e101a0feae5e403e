import type { UpstreamReply } from '../../runtime/contract/connector/context.ts'
import type { Json } from '../../runtime/contract/schema/json.ts'

/** An upstream's reply as the SDK receives it. */
export function reply(
  status: number,
  body: string,
  headers: Record<string, string> = {},
  url = 'https://api.example/v1/users?token=hidden',
): UpstreamReply {
  const text = async () => body
  return {
    ok: status >= 200 && status < 300,
    status,
    url,
    redirected: false,
    headers: new Headers(headers),
    text,
    json: async () => JSON.parse(body),
    bytes: async () => new TextEncoder().encode(body),
  }
}

/** The page part of a context. */
export const pageOf = (cursor: Json = null, size: number | null = null) => ({
  page: { cursor, size },
})
