/** Access requests from creation to their end, as callers and the operator's systems see them. */
import { setTimeout as pause } from 'node:timers/promises'
import { eq, inArray, sql } from 'drizzle-orm'
import { accessRequests } from '../../runtime/database/schema/requests.ts'
import { type CoreHost, domainOf } from '../core/host.ts'

/** The duration of each phase of a request, in milliseconds. */
export type Life = { asked: number; approved: number; given: number }

export type Lives = {
  lives: Life[]
  /** From the first request to the last grant. */
  givenMs: number
  /** From the moment at which all of them expire to the last revocation. */
  takenMs: number
}

export type Caller = (method: string, path: string, body?: object) => Promise<unknown>

/** Calls the host without a socket. @throws Error if the status is not 200 to 204 */
export const callerOf =
  ({ host }: CoreHost, token: string): Caller =>
  async (method, path, body) => {
    const reply = await host.app.request(path, {
      method,
      headers: {
        host: 'localhost',
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
    return text === '' ? null : JSON.parse(text)
  }

/** Calls the host at an address. @throws Error if the status is not 200 to 204 */
export const callerOver =
  (url: string, token: string): Caller =>
  async (method, path, body) => {
    const reply = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
    return text === '' ? null : JSON.parse(text)
  }

export type LivesOptions = {
  core: CoreHost
  appId: string
  asker: Caller
  approver: Caller
  count: number
  /** How many requests run at once. */
  atOnce: number
}

/** Lets new people request an app, get access, and lose it all at the same moment. */
export async function runLives(options: LivesOptions): Promise<Lives> {
  const { core, appId, asker, approver, count, atOnce } = options
  const { rows: people } = await core.db.execute<{ id: string }>(sql`
    insert into users (domain_id, email)
    select ${await domainOf(core.db)}, gen_random_uuid() || '@lives.example'
    from generate_series(1, ${count}::int) returning id`)

  async function live(target: string): Promise<Life> {
    const begunMs = performance.now()
    const made = await asker('POST', '/appstore/access_request', {
      app_id: appId,
      target_user_id: target,
      expiration_in_seconds: 86_400,
    })
    const [{ id }] = made as [{ id: string }]
    const askedMs = performance.now()
    const waiting = `/tasks?show_all_tasks=true&access_request_id=${id}&status=PENDING`
    const { items } = (await approver('GET', waiting)) as { items: [{ id: string }] }
    await approver('POST', `/tasks/${items[0].id}/complete`)
    const approvedMs = performance.now()
    for (;;) {
      const { status } = (await asker('GET', `/appstore/access_requests/${id}`)) as {
        status: string
      }
      if (status === 'COMPLETED') break
      await pause(20)
    }
    const givenMs = performance.now()
    return {
      asked: askedMs - begunMs,
      approved: approvedMs - askedMs,
      given: givenMs - approvedMs,
    }
  }

  const beganMs = performance.now()
  const lives: Life[] = []
  const left = people.map(({ id }) => id)
  const one = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) lives.push(await live(id))
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  const givenMs = performance.now() - beganMs

  const ofThem = inArray(
    accessRequests.targetUserId,
    people.map(({ id }) => id),
  )
  const overMs = performance.now()
  await core.db
    .update(accessRequests)
    .set({ expiresAt: sql`now()`, wakeAt: sql`now()` })
    .where(ofThem)
  for (;;) {
    const gone = await core.db.$count(
      accessRequests,
      sql`${ofThem} and ${eq(accessRequests.status, 'TIME_BASED_EXPIRED')}`,
    )
    if (gone === people.length) break
    await pause(50)
  }
  return { lives, givenMs, takenMs: performance.now() - overMs }
}
