/** Long downloads of lists and files end when the reader loses the right to them. */
import { and, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiTokens, userRoles } from '../../../runtime/database/schema/people.ts'
import { sessions } from '../../../runtime/database/schema/sessions.ts'
import { type CoreHost, domainOf, type Person, person, startCore } from '../../core/host.ts'
import { signedIn } from '../settings/visitor.ts'

const ROWS = 3000

let core: CoreHost

beforeAll(async () => {
  core = await startCore()
  const domain = await domainOf(core.db)
  await core.db.execute(sql`
    insert into users (domain_id, email, given_name, family_name)
    select ${domain}, 'many' || n || '@example.com', 'Many', 'Person' from generate_series(1, ${ROWS}) n`)
})
afterAll(() => core.stop())

const ask = (path: string, headers: Record<string, string>) =>
  core.host.app.request(`http://localhost${path}`, { headers: { host: 'localhost', ...headers } })

/** Reads a first piece, runs `happen`, and reads the rest: the text, and whether it is complete. */
async function readWhile({ body }: Response, happen: () => Promise<unknown>) {
  const reader = body?.getReader()
  const first = await reader?.read()
  await happen()
  await new Promise((resolve) => setTimeout(resolve, 1100))
  const texts = [new TextDecoder().decode(first?.value)]
  try {
    for (;;) {
      const next = await reader?.read()
      if (!next || next.done) return { whole: true, text: texts.join('') }
      texts.push(new TextDecoder().decode(next.value))
    }
  } catch {
    return { whole: false, text: texts.join('') }
  }
}

const list = (token: string) =>
  ask('/users', { authorization: `Bearer ${token}`, accept: 'text/csv' })
const revoke = ({ id }: Person) =>
  core.db.update(apiTokens).set({ revokedAt: sql`now()` }).where(eq(apiTokens.userId, id))

test('a list is sent to its end while its token is valid', async () => {
  const reader = await person(core.db, 'stays@example.com', ['Admin'])
  const { whole, text } = await readWhile(await list(reader.token), async () => {})
  expect(whole).toBe(true)
  expect(text.split('\r\n').length).toBeGreaterThan(ROWS)
})

test('a list breaks off when its token is revoked', async () => {
  const reader = await person(core.db, 'revoked@example.com', ['Admin'])
  const { whole, text } = await readWhile(await list(reader.token), () => revoke(reader))
  expect(whole).toBe(false)
  expect(text.split('\r\n').length).toBeLessThan(1000)
})

test('a list breaks off when its reader loses the role that permits it', async () => {
  const reader = await person(core.db, 'demoted@example.com', ['Admin'])
  const take = () =>
    core.db
      .delete(userRoles)
      .where(and(eq(userRoles.userId, reader.id), eq(userRoles.role, 'Admin')))
  expect((await readWhile(await list(reader.token), take)).whole).toBe(false)
})

test('evidence breaks off when its token is revoked', async () => {
  const reader = await person(core.db, 'auditor@example.com', ['Admin'])
  const path = `/users/${reader.id}/access/evidence`
  const reply = await ask(path, { authorization: `Bearer ${reader.token}` })
  expect(reply.status).toBe(200)
  await revoke(reader)
  await new Promise((resolve) => setTimeout(resolve, 1100))
  await expect(reply.text()).rejects.toThrow()
})

test('a file of the console breaks off when the session ends', async () => {
  const visitor = await signedIn(core)
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const { id } = await person(core.db, 'seen@example.com')
  const path = `/console/people/${id}/evidence`
  const reply = await ask(path, { cookie })
  expect(reply.headers.get('content-disposition')).toMatch(/^attachment/)
  await core.db.delete(sessions)
  await new Promise((resolve) => setTimeout(resolve, 1100))
  await expect(reply.text()).rejects.toThrow()
})
