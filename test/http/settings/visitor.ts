/** A simple browser: keeps cookies, follows no redirects, sends back the fields of the last form. */
import type { CoreHost } from '../../core/host.ts'
import { ADMIN_TOKEN } from '../../core/host.ts'

export type Seen = { status: number; text: string; headers: Headers }

export type Sending = {
  headers?: Record<string, string>
  /** A raw body, in place of a form. */
  raw?: string | Uint8Array
  /** Remote address. */
  from?: string
}

export type Visitor = {
  cookies: Map<string, string>
  /** Set-Cookie lines of the last answer. */
  set: string[]
  get(path: string, sending?: Sending): Promise<Seen>
  /** Sends a form with the hidden fields of the last page that had any. */
  post(path: string, fields?: Record<string, string>, sending?: Sending): Promise<Seen>
}

let visitors = 0

/** Each visitor has an address of its own, so that none uses up another's rate limit. */
export function visit({ host }: CoreHost): Visitor {
  const cookies = new Map<string, string>()
  const ownAddress = `10.0.0.${++visitors}`
  let hidden: Record<string, string> = {}

  async function send(method: string, path: string, body: string | Uint8Array | null, s: Sending) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const reply = await host.app.request(
      path,
      {
        method,
        headers: {
          host: 'localhost',
          ...(cookie === '' ? {} : { cookie }),
          ...(body === null ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
          ...s.headers,
        },
        ...(body === null ? {} : { body: body as string }),
      },
      { incoming: { socket: { remoteAddress: s.from ?? ownAddress } } },
    )
    visitor.set = reply.headers.getSetCookie()
    for (const line of visitor.set) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/max-age=0/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    const text = await reply.text()
    const fields = [...text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)]
    if (fields.length > 0)
      hidden = Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]))
    return { status: reply.status, text, headers: reply.headers }
  }

  const visitor: Visitor = {
    cookies,
    set: [],
    get: (path, sending = {}) => send('GET', path, null, sending),
    post: (path, fields = {}, sending = {}) =>
      send(
        'POST',
        path,
        sending.raw ?? new URLSearchParams({ ...hidden, ...fields }).toString(),
        sending,
      ),
  }
  return visitor
}

/** A visitor who is signed in with a token and has seen the page. */
export async function signedIn(core: CoreHost, token: string = ADMIN_TOKEN): Promise<Visitor> {
  const visitor = visit(core)
  await visitor.get('/settings/sign-in')
  const { status } = await visitor.post('/settings/sign-in', { token })
  if (status !== 303) throw new Error(`the sign-in was answered ${status}`)
  await visitor.get('/settings/api-tokens')
  return visitor
}

/** The text of a token that a page shows. */
export const shownToken = (text: string): string | null => /lsk_[\w-]{43}/.exec(text)?.[0] ?? null
