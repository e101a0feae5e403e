/** A person at the sign-in pages of `oidc`, with cookies but without a browser. */
export type Oidc = { issuer: string }

export type Walk = {
  user?: string
  password?: string
  /** Refuses on the consent page, or on the first page. */
  cancel?: 'login' | 'consent'
}

/** Follows the provider's pages to the redirect, and returns its address. */
export async function walk(
  url: string,
  { user = 'alice', password = `pw-${user}`, cancel }: Walk = {},
): Promise<string> {
  const cookies = new Map<string, string>()
  const { origin } = new URL(url)
  let at = url
  for (let step = 0; step < 12; step += 1) {
    let reply = await send(at, cookies)
    if (reply.status === 200) {
      const page = await reply.text()
      const isLogin = page.includes('name="password"')
      const no = cancel === (isLogin ? 'login' : 'consent')
      const fields = isLogin ? { user, password, do: 'login' } : { do: 'allow' }
      const body = new URLSearchParams({ ...fields, ...(no ? { do: 'cancel' } : {}) })
      reply = await send(at, cookies, body)
    }
    const location = reply.headers.get('location')
    if (location === null) throw new Error(`the provider answered ${reply.status} at ${at}`)
    const next = new URL(location, at)
    if (next.origin !== origin) return next.href
    at = next.href
  }
  throw new Error('the provider did not redirect back to the host')
}

async function send(
  url: string,
  cookies: Map<string, string>,
  body?: URLSearchParams,
): Promise<Response> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const reply = await fetch(url, {
    redirect: 'manual',
    headers: { cookie },
    ...(body ? { method: 'POST', body } : {}),
  })
  for (const line of reply.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (value === '') cookies.delete(name)
    else cookies.set(name, value)
  }
  return reply
}

/** Makes the provider misbehave, or change its keys. */
export const control = (issuer: string, change: object): Promise<Response> =>
  fetch(`${issuer}/control`, { method: 'PUT', body: JSON.stringify(change) })
