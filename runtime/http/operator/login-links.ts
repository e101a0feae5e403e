/** `POST /operator/login-links`: links that sign one person in to the settings pages. */
import type { Context } from 'hono'
import * as v from 'valibot'
import { parseBodyText } from '../../contract/endpoints/body.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import { described, object } from '../../contract/schema/schemas.ts'
import { FIRST_ADMIN } from '../../core/sign-in/first-admin.ts'
import { createLoginLink } from '../../core/sign-in/sessions.ts'
import { readBody } from '../edge/body.ts'
import type { Env } from '../edge/env.ts'
import { SIGN_IN_PATH } from '../settings/layout.ts'
import { type OperatorGuardDeps, reached } from './guard.ts'

/** Body of the request. */
export const LoginLinkWish = object('LoginLinkWish', 'The user that a login link is for', {
  email: v.optional(
    described(v.pipe(v.string(), v.maxLength(320)), 'The user that it signs in'),
    FIRST_ADMIN,
  ),
})

/** Body of the answer. The code follows `#`, so that no log on the way contains it. */
export const LoginLink = object('LoginLink', 'A sign-in to the settings pages', {
  email: v.string(),
  path: described(v.string(), 'The path to append to the host’s address; works once'),
  expires_at: v.string(),
})

/** Creates a login link. @throws CoreError `not_found`, `conflict`, `invalid` */
export async function makeLoginLink(
  c: Context<Env>,
  { db, hasher }: OperatorGuardDeps,
): Promise<Response> {
  const body = parseBodyText(LoginLinkWish, await readBody(c), true)
  if (!body.ok) throw new CoreError('invalid', body.entries)
  const { email } = v.parse(LoginLinkWish, body.value)
  const link = await createLoginLink(reached(db()), hasher, await c.get('operator')(), email)
  const path = `${SIGN_IN_PATH}#code=${link.code}`
  c.header('cache-control', 'no-store')
  return c.json({ email: link.email, path, expires_at: link.expiresAt.toISOString() }, 201)
}
