/** Answers with a file instead of a page. */
import type { Context } from 'hono'
import type { FileAnswer } from '../../core/kernel/file-answer.ts'
import type { Env } from '../edge/env.ts'

export async function sendFile(
  c: Context<Env>,
  { name, media, body }: FileAnswer,
): Promise<Response> {
  if (c.req.method === 'HEAD') await body.cancel()
  return c.body(body, 200, {
    'content-type': media,
    'content-disposition': `attachment; filename="${name}"`,
  })
}
