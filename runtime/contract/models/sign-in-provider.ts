/** Providers of sign-in (OpenID Connect), as the file of KEYWAY_SIGN_IN lists them. */

import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { ROLES } from './roles.ts'

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(500))

/** The cast: the keys of a table are names of its type. */
const ROLE_NAMES = keysOf(ROLES)

/** An address by https; by http only of this machine. */
const isIssuer = (given: string): boolean => {
  const url = URL.parse(given)
  if (url === null) return false
  if (url.search !== '' || url.hash !== '' || url.username !== '') return false
  const loopback = ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopback)
}

export const SignInProvider = v.strictObject({
  /** Its name in addresses. */
  id: v.pipe(
    v.string(),
    v.regex(/^[a-z0-9-]{1,40}$/, 'is not a word of small letters, digits and -'),
  ),
  /** What people read on the button. */
  name: text,
  issuer: v.pipe(text, v.check(isIssuer, 'is not an https address without a query')),
  client_id: text,
  /** File with the client's secret; a public client has none. */
  client_secret_file: v.optional(text),
  scopes: v.optional(v.array(text), ['openid', 'profile', 'email']),
  /**
   * The claim that holds the address of the person. `email` counts only where the provider says that it has
   * verified it; for another claim the operator vouches.
   */
  person_claim: v.optional(text, 'email'),
  /** What becomes of people that Keyway does not know. */
  unknown_people: v.optional(v.picklist(['refuse', 'make']), 'refuse'),
  groups_claim: v.optional(text, 'groups'),
  /** Which role goes with which value of the claim. It decides over the roles that it names. */
  roles: v.optional(
    v.pipe(
      v.array(v.strictObject({ group: text, role: v.picklist(ROLE_NAMES) })),
      v.maxLength(200),
    ),
    [],
  ),
})
export type SignInProvider = v.InferOutput<typeof SignInProvider>

export const SignInProviders = v.pipe(
  v.array(SignInProvider),
  v.maxLength(20),
  v.check(
    (all) => new Set(all.map(({ id }) => id)).size === all.length,
    'names two providers by one id',
  ),
)

/** A provider with its secret; null for a public client. */
export type KnownProvider = SignInProvider & { secret: string | null }

/** What is kept in the browser between the two halves of a sign-in. */
export type Begun = { state: string; nonce: string; verifier: string }

/** What a provider says of a person. */
export type Claims = Readonly<Record<string, unknown>>

/**
 * Why nobody is signed in. `denied`: the person or the provider said no. `away`: it does not answer. `wrong`: its answer
 * does not hold.
 */
export type NotSignedIn = { ok: false; why: 'denied' | 'away' | 'wrong'; problem: string }

type Told<T> = Promise<{ ok: true; value: T } | NotSignedIn>

/** Asking a provider, as a function that main hands in. */
export type ProviderSignIn = {
  begin(provider: KnownProvider, redirectUri: string): Told<Begun & { url: string }>
  finish(
    provider: KnownProvider,
    answer: Begun & { params: URLSearchParams; redirectUri: string },
  ): Told<Claims>
  /** Where the person is signed out of the provider too; null where it has no such page. */
  end(provider: KnownProvider, backTo: string): Told<string | null>
}
