/** An address or a user name in two forms of Unicode is one, wherever it comes from; and who is there stays found. */
import { eq, sql } from 'drizzle-orm'
import * as v from 'valibot'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { SignInProvider } from '../../../runtime/contract/models/sign-in-provider.ts'
import { createTokenHasher } from '../../../runtime/core/kernel/identity/token-hasher.ts'
import { signInByProvider } from '../../../runtime/core/sign-in/by-provider.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import { until } from '../../e2e/until.ts'
import { app, person, SECRET } from '../host.ts'
import { type Provider, refusal, startProvider } from './provider.ts'

let provider: Provider
let count = 0
/** The same address in the composed form, and in the decomposed one. */
let composed: string
let decomposed: string

beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.core.stop())
beforeEach(() => {
  count += 1
  composed = `zoé${count}@acme.example`.normalize('NFC')
  decomposed = composed.normalize('NFD')
})

const stored = async () => {
  const { rows } = await provider.core.db.execute<{ email: string }>(
    sql`select email from users where email like ${`zo%${count}@acme.example`}`,
  )
  return rows.map(({ email }) => email)
}

describe('a provider', () => {
  test('that sends the other form means the same user', async () => {
    const id = await provider.user(decomposed)
    const { body } = await provider.scim('GET', `/Users/${id}`)
    expect([body.userName, body.emails[0].value]).toEqual([composed, composed])
    for (const form of [composed, decomposed]) {
      for (const path of ['userName', 'emails', 'emails.value']) {
        const found = await provider.found(`${path} eq "${form}"`)
        expect(found.Resources.map((one: { id: string }) => one.id)).toEqual([id])
      }
      const again = await provider.scim('POST', '/Users', { userName: form })
      expect(refusal(again)).toEqual([409, 'uniqueness'])
    }
    const same = { userName: decomposed, emails: [{ value: decomposed }] }
    const { version } = body.meta
    expect((await provider.scim('PUT', `/Users/${id}`, same)).body.meta.version).toBe(version)
    expect(await stored()).toEqual([composed])
  })

  test('finds who was stored in the decomposed form, and changes nothing of it', async () => {
    const { id } = await person(provider.core.db, decomposed)
    for (const form of [composed, decomposed]) {
      const found = await provider.found(`userName eq "${form}"`)
      expect(found.Resources.map((one: { id: string }) => one.id)).toEqual([id])
      expect(refusal(await provider.scim('POST', '/Users', { userName: form }))).toEqual([
        ...[409, 'uniqueness'],
      ])
      await provider.scim('PUT', `/Users/${id}`, { userName: form, title: form })
    }
    expect(await stored()).toEqual([decomposed])
  })

  test('tells two apart who were stored in both forms', async () => {
    for (const form of [composed, decomposed]) {
      const { id } = await person(provider.core.db, form)
      const found = await provider.found(`userName eq "${form}"`)
      expect(found.Resources.map((one: { id: string }) => one.id)).toEqual([id])
    }
    expect(await stored()).toHaveLength(2)
  })
})

describe.each([
  ['composed', (form: string) => form.normalize('NFC')],
  ['decomposed', (form: string) => form.normalize('NFD')],
])('a person who is there in the %s form', (_, held) => {
  let id: string
  beforeEach(async () => {
    id = (await person(provider.core.db, held(composed))).id
  })
  const other = () => (held(composed) === composed ? decomposed : composed)
  const call: Provider['core']['call'] = (...args) => provider.core.call(...args)

  test('is the one whom a file of people names', async () => {
    const raw = `email,given_name,manager_email\n${other()},Zoe,\nm${count}@acme.example,Max,${other()}\n`
    const headers = { 'content-type': 'text/csv' }
    const { status, body } = await call('POST', '/operator/users/import', { raw, headers })
    expect([status, body]).toMatchObject([200, { added: 1, changed: 1 }])
    expect(await stored()).toEqual([held(composed)])
    const { rows } = await provider.core.db.execute(
      sql`select manager_id from users where email = ${`m${count}@acme.example`}`,
    )
    expect(rows).toEqual([{ manager_id: id }])
  })

  test('is the one who signs in by a provider, or by a link', async () => {
    const named = { id: 'acme', name: 'Acme', issuer: 'https://acme.example', client_id: 'keyway' }
    const claims = { sub: 'x', email: other(), email_verified: true }
    const acme = v.parse(SignInProvider, { ...named, unknown_people: 'make' })
    const { db } = provider.core
    expect(await signInByProvider(db, createTokenHasher([SECRET]), acme, claims)).toHaveProperty(
      'secret',
    )
    expect(await stored()).toEqual([held(composed)])
    const link = await call('POST', '/operator/login-links', { body: { email: other() } })
    expect([link.status, link.body.email]).toEqual([201, held(composed)])
    const { body } = await call('GET', `/users?exact_match=true&search_term=${other()}`)
    expect(body.items.map((one: { id: string }) => one.id)).toEqual([id])
  })

  test('is the one to whom uploaded accounts belong, one for each address', async () => {
    const appId = await app(provider.core.db, `Uploaded ${count}`)
    const upload = async (email: string) => {
      const { body } = await call('POST', '/accounts/upload', {
        body: { app_id: appId, accounts: [{ unique_identifier: null, email }] },
      })
      const ended = await until('the upload ends', async () => {
        const { state } = (await call('GET', `/accounts/upload/${body.job_id}`)).body
        return state === 'SUCCESS' || state === 'FAILURE' ? state : null
      })
      expect(ended).toBe('SUCCESS')
    }
    await upload(other())
    await upload(held(composed))
    const { items } = (await call('GET', `/accounts?app_id=${appId}`)).body
    expect(items).toMatchObject([{ user_id: id }])
  })
})

test('a new person of a file is stored in one form, and listed once', async () => {
  const raw = `email\n${composed}\n${decomposed}\n`
  const headers = { 'content-type': 'text/csv' }
  const twice = await provider.core.call('POST', '/operator/users/import', { raw, headers })
  expect(JSON.stringify(twice.body)).toContain('is in line 2 already')
  const once = `email\n${decomposed}\n`
  await provider.core.call('POST', '/operator/users/import', { raw: once, headers })
  const found = await provider.core.db.select().from(users).where(eq(users.email, composed))
  expect(found).toHaveLength(1)
})
