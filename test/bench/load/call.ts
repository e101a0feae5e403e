/** One call of a load generator. */
import type { Pool } from 'undici'
import type { Target } from './loads.ts'

/** Sends a call, reads all of its answer, and says whether it is one, and no error. */
export async function isAnswered(pool: Pool, { path, body }: Target): Promise<boolean> {
  try {
    const reply = await pool.request({
      path,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const text = await reply.body.text()
    return reply.statusCode === 200 && !text.startsWith('{"is_error"')
  } catch {
    // A connection that broke is a failed call like others.
    return false
  }
}
