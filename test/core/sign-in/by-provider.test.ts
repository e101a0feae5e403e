/** The person that the claims of a provider identify, and the roles of that person. */
import { eq } from 'drizzle-orm'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  SignInProvider,
  SignInProviders,
} from '../../../runtime/contract/models/sign-in-provider.ts'
import { createTokenHasher } from '../../../runtime/core/kernel/identity/token-hasher.ts'
import { signInByProvider, toldBy } from '../../../runtime/core/sign-in/by-provider.ts'
import { userRoles, users } from '../../../runtime/database/schema/people.ts'
import { type CoreHost, person, SECRET, startCore } from '../host.ts'

const LEAST = { id: 'acme', name: 'Acme', issuer: 'https://acme.example', client_id: 'keyway' }
const acme = v.parse(SignInProvider, LEAST)
const ADA = { sub: 'x', email: 'Ada@Example.com', email_verified: true }

describe('the claims of a provider', () => {
  test('identify a person by a verified address', () => {
    const told = toldBy({ ...ADA, name: 'Ada B. Abbott', groups: ['staff', 7] }, acme)
    expect(told).toEqual({
      email: 'ada@example.com',
      givenName: 'Ada',
      familyName: 'B. Abbott',
      groups: ['staff'],
    })
  })

  test.each([
    ['false', false],
    ['a text', 'true'],
    ['a number', 1],
    ['missing', undefined],
  ])('are refused if email_verified is %s', (_what, email_verified) => {
    expect(toldBy({ ...ADA, email_verified }, acme)).toMatchObject({ why: 'unverified' })
  })

  test.each([undefined, null, '', 'ada', 'a b@example.com', 'a\u0000@example.com', ['a@b.c'], {}])(
    'are refused with the address %j',
    (email) => expect(toldBy({ ...ADA, email }, acme)).toMatchObject({ why: 'no_address' }),
  )

  test.each([
    ['a list', ['staff', 'audit'], ['staff', 'audit']],
    ['an empty list', [], []],
    ['a single text', 'audit', ['audit']],
    ['missing', undefined, null],
    ['an object', { group: 'audit' }, null],
  ])('name groups if the claim is %s', (_what, groups, expected) => {
    expect(toldBy({ ...ADA, groups }, acme)).toMatchObject({ groups: expected })
  })

  test('are read from the claim that the operator configured', () => {
    const named = v.parse(SignInProvider, { ...LEAST, person_claim: 'upn' })
    expect(toldBy({ upn: 'ada@example.com' }, named)).toMatchObject({ email: 'ada@example.com' })
    expect(toldBy(ADA, named)).toMatchObject({ why: 'no_address' })
  })
})

describe('the file of providers', () => {
  test.each([
    ['an http issuer', { issuer: 'http://acme.example' }],
    ['an issuer with a query', { issuer: 'https://acme.example/?x=1' }],
    ['an id with a slash', { id: 'a/b' }],
    ['an unknown role', { roles: [{ group: 'a', role: 'Chief' }] }],
    ['an unknown member', { secret: 'x' }],
  ])('refuses %s', (_what, more) =>
    expect(v.is(SignInProviders, [{ ...LEAST, ...more }])).toBe(false),
  )

  test('refuses a duplicate id', () => {
    expect(v.is(SignInProviders, [LEAST, { ...LEAST, id: 'other' }])).toBe(true)
    expect(v.is(SignInProviders, [LEAST, LEAST])).toBe(false)
  })
})

describe('roles by groups', () => {
  let core: CoreHost
  const hasher = createTokenHasher([SECRET])
  const table = v.parse(SignInProvider, {
    ...LEAST,
    roles: [
      { group: 'admins', role: 'Admin' },
      { group: 'audit', role: 'Auditor' },
      { group: 'audit-2', role: 'Auditor' },
    ],
  })
  beforeAll(async () => {
    core = await startCore()
  })
  afterAll(() => core.stop())

  const rolesOf = async (userId: string) =>
    (await core.db.select().from(userRoles).where(eq(userRoles.userId, userId)))
      .map(({ role }) => role)
      .sort()
  const signIn = (groups?: string | string[]) =>
    signInByProvider(core.db, hasher, table, { ...ADA, groups })

  test('follow the groups at each sign-in; roles that the table does not name are kept', async () => {
    const ada = await person(core.db, 'ada@example.com', ['App Admin'])
    await signIn(['audit', 'nothing'])
    expect(await rolesOf(ada.id)).toEqual(['App Admin', 'Auditor'])
    await signIn(['admins', 'audit-2'])
    expect(await rolesOf(ada.id)).toEqual(['Admin', 'App Admin', 'Auditor'])
    await signIn([])
    expect(await rolesOf(ada.id)).toEqual(['App Admin'])
  })

  test('are those of a single group that is sent as a text', async () => {
    const bo = await person(core.db, 'bo@example.com', [])
    const claims = { ...ADA, email: 'bo@example.com', groups: 'audit' }
    const letIn = await signInByProvider(core.db, hasher, table, claims)
    expect(letIn).toMatchObject({ lacksGroups: false })
    expect(await rolesOf(bo.id)).toEqual(['Auditor'])
  })

  test('are removed without groups, and the sign-in says that none were sent', async () => {
    await signIn(['audit'])
    expect(await signIn()).toMatchObject({ lacksGroups: true })
    const [ada] = await core.db.select().from(users).where(eq(users.email, 'ada@example.com'))
    expect(await rolesOf(ada?.id ?? '')).toEqual(['App Admin'])
    const withoutRoles = await signInByProvider(core.db, hasher, acme, ADA)
    expect(withoutRoles).toMatchObject({ lacksGroups: false })
  })

  test('are not removed from the last admin who can sign in', async () => {
    await signIn(['admins'])
    const [first] = await core.db.select().from(users).where(eq(users.email, 'admin@localhost'))
    await core.db.delete(userRoles).where(eq(userRoles.userId, first?.id ?? ''))
    await signIn([])
    const [ada] = await core.db.select().from(users).where(eq(users.email, 'ada@example.com'))
    expect(await rolesOf(ada?.id ?? '')).toContain('Admin')
  })
})
