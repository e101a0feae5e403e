/** A person whose offboarding starts while they sign in gets no session, role, login link or token. */
import { eq } from 'drizzle-orm'
import * as v from 'valibot'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { SignInProvider } from '../../../runtime/contract/models/sign-in-provider.ts'
import { callerOf } from '../../../runtime/core/kernel/identity/principal.ts'
import { createTokenHasher } from '../../../runtime/core/kernel/identity/token-hasher.ts'
import { createToken } from '../../../runtime/core/kernel/identity/tokens.ts'
import { signInByProvider } from '../../../runtime/core/sign-in/by-provider.ts'
import { createOwnToken } from '../../../runtime/core/sign-in/own-tokens.ts'
import { createLoginLink, signInByCode } from '../../../runtime/core/sign-in/sessions.ts'
import type { Db } from '../../../runtime/database/database.ts'
import { apiTokens, userRoles, users } from '../../../runtime/database/schema/people.ts'
import { loginLinks, sessions } from '../../../runtime/database/schema/sessions.ts'
import { type CoreHost, domainOf, type Person, person, SECRET, startCore } from '../host.ts'
import { meanwhile } from '../meanwhile.ts'

const hasher = createTokenHasher([SECRET])

let core: CoreHost
let domainId: string
let chief: Person
let count = 0
let email: string
let leaver: Person

beforeAll(async () => {
  core = await startCore()
  domainId = await domainOf(core.db)
  chief = await person(core.db, 'chief@example.com', ['Admin'])
})
afterAll(() => core.stop())
beforeEach(async () => {
  count += 1
  email = `leaver-${count}@example.com`
  leaver = await person(core.db, email)
})

/** Writes what the start of an offboarding writes. */
async function leaves(tx: Db): Promise<void> {
  const { id } = leaver
  await tx.update(users).set({ status: 'INACTIVE' }).where(eq(users.id, id))
  await tx.delete(sessions).where(eq(sessions.userId, id))
  await tx.delete(loginLinks).where(eq(loginLinks.userId, id))
  await tx.update(apiTokens).set({ revokedAt: new Date() }).where(eq(apiTokens.userId, id))
}

const linkFor = async (address: string) => {
  const token = { userId: chief.id, domainId, name: 'x', description: '', expiresAt: null }
  const { id: tokenId } = await createToken(core.db, hasher, { ...token, readOnly: false })
  const operator = { userId: chief.id, domainId, tokenId, readOnly: false, usedLately: true }
  return createLoginLink(core.db, hasher, operator, address)
}

const countOfLeaver = async (table: typeof sessions | typeof loginLinks) =>
  core.db.$count(table, eq(table.userId, leaver.id))

test('a login link creates no session while an offboarding starts', async () => {
  const { code } = await linkFor(email)
  // Signing in uses up the link itself, so only the session is left to remove.
  const leave = async (tx: Db) => {
    await tx.update(users).set({ status: 'INACTIVE' }).where(eq(users.id, leaver.id))
    await tx.delete(sessions).where(eq(sessions.userId, leaver.id))
  }
  const signedIn = meanwhile(core.db, leave, () => signInByCode(core.db, hasher, code))
  expect(await signedIn).toBe(null)
  expect(await countOfLeaver(sessions)).toBe(0)
})

test('sign-in by a provider creates no session and no role while an offboarding starts', async () => {
  const provider = v.parse(SignInProvider, {
    ...{ id: 'acme', name: 'Acme', issuer: 'https://acme.example', client_id: 'keyway' },
    roles: [{ group: 'all', role: 'Auditor' }],
  })
  const claims = { sub: 'x', email, email_verified: true, groups: ['all'] }
  const signedIn = meanwhile(core.db, leaves, () =>
    signInByProvider(core.db, hasher, provider, claims),
  )
  expect(await signedIn).toEqual({ why: 'suspended', email })
  expect(await countOfLeaver(sessions)).toBe(0)
  expect(await core.db.$count(userRoles, eq(userRoles.userId, leaver.id))).toBe(0)
})

test('no login link is created while an offboarding starts', async () => {
  await expect(meanwhile(core.db, leaves, () => linkFor(email))).rejects.toMatchObject({
    detail: `${email} is INACTIVE`,
  })
  expect(await countOfLeaver(loginLinks)).toBe(0)
})

test('no token is created while an offboarding starts', async () => {
  const caller = await callerOf(core.db, { userId: leaver.id, domainId, readOnly: false })
  const tokenFields = { name: 'late', description: '', readOnly: false, expiresAt: null }
  const formId = '00000000-0000-4000-8000-000000000001'
  const made = meanwhile(core.db, leaves, () =>
    createOwnToken(core.db, hasher, caller, { ...tokenFields, formId }),
  )
  await expect(made).rejects.toMatchObject({ kind: 'unauthenticated' })
  const tokens = await core.db.select().from(apiTokens).where(eq(apiTokens.userId, leaver.id))
  expect(tokens.filter(({ revokedAt }) => revokedAt === null)).toEqual([])
})
