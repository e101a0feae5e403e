/** Sign-in providers (OpenID Connect), as listed in the file of KEYWAY_SIGN_IN. */

import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { ROLES } from './roles.ts'

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(500))

/** Names of the roles. */
const ROLE_NAMES = keysOf(ROLES)

/**
 * Reports whether a text is an https URL, or an http URL of this machine, without user name, query and
 * fragment.
 */
const isIssuer = (given: string): boolean => {
  const url = URL.parse(given)
  if (url === null) return false
  if (url.search !== '' || url.hash !== '' || url.username !== '') return false
  const loopback = ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopback)
}

export const SignInProvider = v.strictObject({
  /** Name of the provider in URLs. */
  id: v.pipe(
    v.string(),
    v.regex(/^[a-z0-9-]{1,40}$/, 'is not a word of small letters, digits and -'),
  ),
  /** Label of the button. */
  name: text,
  issuer: v.pipe(text, v.check(isIssuer, 'is not an https address without a query')),
  client_id: text,
  /** File with the client's secret; absent for a public client. */
  client_secret_file: v.optional(text),
  scopes: v.optional(v.array(text), ['openid', 'profile', 'email']),
  /**
   * The claim that contains the person's e-mail address. `email` counts only if the provider states that it
   * has verified it; for another claim the operator vouches.
   */
  person_claim: v.optional(text, 'email'),
  /** What happens when a person unknown to Keyway signs in. */
  unknown_people: v.optional(v.picklist(['refuse', 'make']), 'refuse'),
  groups_claim: v.optional(text, 'groups'),
  /** Roles by value of the groups claim. For the roles listed here, the claim decides. */
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

/** A provider with its secret, which is null for a public client. */
export type KnownProvider = SignInProvider & { secret: string | null }

/** State kept in the browser between the two halves of a sign-in. */
export type SignInState = { state: string; nonce: string; verifier: string }

/** Claims of a provider about a person. */
export type Claims = Readonly<Record<string, unknown>>

/**
 * A failed sign-in. `denied`: the person or the provider refused. `away`: the provider does not respond.
 * `wrong`: its response is not valid.
 */
export type NotSignedIn = { ok: false; why: 'denied' | 'away' | 'wrong'; problem: string }

type Told<T> = Promise<{ ok: true; value: T } | NotSignedIn>

/** Client of sign-in providers, passed in by main. */
export type ProviderSignIn = {
  begin(provider: KnownProvider, redirectUri: string): Told<SignInState & { url: string }>
  finish(
    provider: KnownProvider,
    answer: SignInState & { params: URLSearchParams; redirectUri: string },
  ): Told<Claims>
  /** Returns the URL that also signs the person out of the provider, or null if it has no such page. */
  end(provider: KnownProvider, backTo: string): Told<string | null>
}
