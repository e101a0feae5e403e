/**
 * Logos of connectors, served as pictures. Lists of apps and integrations contain only their addresses,
 * because the pictures would add megabytes to a page. No token is required: browsers send none for pictures.
 */
import { Hono } from 'hono'
import { hasTag } from '../edge/cached-documents.ts'
import type { Env } from '../edge/env.ts'

type LogoDeps = {
  find(id: string): { digest: string } | null
  /** Returns a data: URL, or null if there is no logo. */
  logo(digest: string): Promise<string | null>
}

/**
 * A connector's logo is a third party's file. When opened by itself, it must neither run nor load anything.
 */
const HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'cache-control': 'public, max-age=3600',
}

export function logoRoutes({ find, logo }: LogoDeps): Hono<Env> {
  const routes = new Hono<Env>()
  const path = '/integrations/:app_class_id/logo'
  routes.get(path, async (c) => {
    const connector = find(c.req.param('app_class_id'))
    const url = connector === null ? null : await logo(connector.digest)
    const [, type, base64] = /^data:(image\/[a-z+]+);base64,(.*)$/.exec(url ?? '') ?? []
    // Without a token, an unknown connector and one without a logo look the same.
    if (type === undefined || base64 === undefined) return c.json({ detail: 'Logo not found' }, 404)
    const tag = `"${connector?.digest.replace(/[^\w-]/g, '')}"`
    const headers = { ...HEADERS, etag: tag }
    if (hasTag(c.req.header('if-none-match'), tag)) return c.body(null, 304, headers)
    return c.body(Buffer.from(base64, 'base64'), 200, { ...headers, 'content-type': type })
  })
  routes.all(path, (c) => c.json({ detail: 'Method Not Allowed' }, 405, { allow: 'GET' }))
  return routes
}
