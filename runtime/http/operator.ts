/** What the operator does with people: links that let one of them in to the settings pages. */
import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import { parseBodyText } from '../contract/endpoints/body.ts'
import { CoreError } from '../contract/endpoints/problem.ts'
import { createLoginLink } from '../core/sessions.ts'
import { FIRST_ADMIN } from '../core/tokens.ts'
import { readBody } from './body.ts'
import type { CoreDeps } from './core/routes.ts'
import { away, toCoreError } from './core/to-core-error.ts'
import { jsonGuard } from './guards.ts'
import type { Env } from './problem.ts'
import { SIGN_IN_PATH } from './settings/layout.ts'

/** What `POST /operator/login-links` takes. */
export const LoginLinkWish = v.pipe(
  v.object({
    email: v.optional(
      v.pipe(v.string(), v.maxLength(320), v.metadata({ description: 'Whom it lets in' })),
      FIRST_ADMIN,
    ),
  }),
  v.metadata({ title: 'LoginLinkWish', description: 'Whom a login link is for' }),
)

/** What it answers. The code stands behind `#`, so that it comes into no log on its way. */
export const LoginLink = v.pipe(
  v.object({
    email: v.string(),
    path: v.pipe(
      v.string(),
      v.metadata({ description: 'To be put behind the host’s address; works once' }),
    ),
    expires_at: v.string(),
  }),
  v.metadata({ title: 'LoginLink', description: 'A way in to the settings pages' }),
)

export function operatorRoutes({ db: reach, hasher, log }: CoreDeps): Hono<Env> {
  const routes = new Hono<Env>()
  routes.post('/login-links', jsonGuard, async (c) => {
    try {
      const db = reach()
      if (!db) throw away()
      const body = parseBodyText(LoginLinkWish, await readBody(c), true)
      if (!body.ok) throw new CoreError(422, body.entries)
      const { email } = body.value as v.InferOutput<typeof LoginLinkWish>
      const link = await createLoginLink(db, hasher, bearerOf(c), email)
      const path = `${SIGN_IN_PATH}#code=${link.code}`
      c.header('cache-control', 'no-store')
      return c.json({ email: link.email, path, expires_at: link.expiresAt.toISOString() }, 201)
    } catch (thrown) {
      const requestId = c.get('requestId')
      const error = toCoreError(thrown, requestId)
      if (error.status >= 500)
        log.error({ err: error.cause, requestId, path: c.req.path }, error.message)
      return c.json({ detail: error.detail } as never, error.status, error.headers)
    }
  })
  return routes
}

const bearerOf = (c: Context<Env>): string =>
  /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? ''
