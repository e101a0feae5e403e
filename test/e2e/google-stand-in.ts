/**
 * A fake of the Google APIs that the connector calls, in the formats that Google documents: tokens for signed
 * assertions, pages by `pageToken`, errors with their reasons. Its data is in google-tenant.ts, its routes in
 * google-routes.ts.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, jwtVerify } from 'jose'

export type Reply = { status: number; body?: unknown }
export type Asked = {
  /** The variable parts of the path. */
  at: string[]
  query: URLSearchParams
  body: Record<string, unknown>
}
/** Handlers by route, such as `GET /users/*`. */
export type Routes = Record<string, (asked: Asked) => Reply>

/** An error in Google's format. */
export const refuse = (code: number, reason: string, message: string): Reply => ({
  status: code,
  body: { error: { code, message, errors: [{ message, domain: 'global', reason }] } },
})
export const notFound = (what: string): Reply =>
  refuse(404, 'notFound', `Resource Not Found: ${what}`)
export const found = (body: unknown): Reply => ({ status: 200, body })

/** One page of a list. As at Google, the member is omitted if there are no items. */
export function page(items: unknown[], name: string, { query }: Asked, most: number): Reply {
  const start = Number(query.get('pageToken')?.replace(/^after-/, '') ?? 0)
  const size = Number(query.get('maxResults') ?? 100)
  if (!(size >= 1 && size <= most)) return refuse(400, 'invalid', 'Invalid value for: maxResults')
  const cut = items.slice(start, start + size)
  const end = start + cut.length
  return found({
    ...(cut.length > 0 ? { [name]: cut } : {}),
    ...(end < items.length ? { nextPageToken: `after-${end}` } : {}),
  })
}

export type StandInOptions = {
  routes: Routes
  /** The key that verifies assertions. */
  publicKey: CryptoKey
  /** The service account, the user that it may impersonate, and its scopes. */
  account: { email: string; subject: string; scopes: string[] }
}

export type StandIn = {
  url: string
  /** Number of exchanged assertions. */
  logins(): number
  /** Revokes all tokens. */
  endTokens(): void
  stop(): Promise<void>
}

export async function startStandIn({
  routes,
  publicKey,
  account,
}: StandInOptions): Promise<StandIn> {
  const table = Object.entries(routes).map(([route, answer]) => ({
    pattern: new RegExp(`^${route.replaceAll(/[.+]/g, '\\$&').replaceAll('*', '([^/]+)')}$`),
    answer,
  }))
  const tokens = new Set<string>()
  let logins = 0
  let url = ''

  async function logIn(form: URLSearchParams): Promise<Reply> {
    const no = (error: string, error_description: string) => ({
      status: error === 'unauthorized_client' ? 401 : 400,
      body: { error, error_description },
    })
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer')
      return no('unsupported_grant_type', 'Invalid grant_type')
    try {
      const { payload } = await jwtVerify(form.get('assertion') ?? '', publicKey, {
        algorithms: ['RS256'],
        issuer: account.email,
        audience: `${url}/token`,
        requiredClaims: ['iat', 'exp'],
        maxTokenAge: '1h',
      })
      if (payload.sub !== account.subject) return no('unauthorized_client', 'Not delegated')
      const scopes = String(payload['scope']).split(' ')
      if (!scopes.every((scope) => account.scopes.includes(scope)))
        return no('unauthorized_client', 'Client is unauthorized for some of the scopes')
    } catch (error) {
      return no('invalid_grant', `Invalid JWT: ${(error as Error).message}`)
    }
    const access_token = `ya29.${randomUUID()}`
    tokens.add(access_token)
    logins += 1
    return found({ access_token, expires_in: 3599, token_type: 'Bearer' })
  }

  async function answer(request: IncomingMessage): Promise<Reply> {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', url)
    const text = await textOf(request)
    if (pathname === '/token') return logIn(new URLSearchParams(text))
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? ''
    if (!tokens.has(token)) return refuse(401, 'authError', 'Invalid Credentials')
    const asked = `${request.method} ${pathname}`
    for (const { pattern, answer: route } of table) {
      const match = pattern.exec(asked)
      if (match) {
        const at = match.slice(1).map(decodeURIComponent)
        return route({ at, query, body: text === '' ? {} : JSON.parse(text) })
      }
    }
    return refuse(404, 'notFound', `There is no ${asked}`)
  }

  const server = createServer((request, response) => {
    answer(request).then(
      ({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' })
        response.end(body === undefined ? '' : JSON.stringify(body))
      },
      (error: unknown) => response.destroy(error as Error),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    logins: () => logins,
    endTokens: () => tokens.clear(),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
