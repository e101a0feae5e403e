/**
 * Keeps secrets from the connector: fills them into the requests of one call, and removes them from its
 * replies. A call without secrets has no overhead.
 */
import {
  exchangePlaceholder,
  type Meaning,
  signPlaceholder,
} from '../../contract/connector/placeholder.ts'
import type { CallSecrets } from '../../contract/connector/secrets.ts'
import { SIGNING } from '../../contract/connector/signing.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { Token } from '../call/call.ts'
import type { OutgoingRequest } from '../exchange/exchange.ts'
import type { Login } from '../login/login.ts'
import type { ResolvedRule } from '../rules/resolve-rules.ts'
import { type Conceal, createConceal } from './conceal.ts'
import type { Concealed } from './echoes.ts'
import { misplaced, refuseSecret } from './refuse.ts'
import { type RequestLimits, type Revealed, reveal, withHeader } from './reveal.ts'
import { createSignatures, readSigningRequest } from './signatures.ts'

/** Secrets that an egress entry allows, and the origin they go to. */
type SecretTarget = Pick<ResolvedRule, 'field' | 'secrets'> & {
  origin: string
  /** Credential with which the host itself signs in there. It must not be in any request. */
  signsIn?: string | null
}

/** Request of one hop as it is sent, and the exchange's token in it. */
type Sent = { url: URL; request: OutgoingRequest; token: Token | null }

export type Blind = {
  /**
   * Fills in the secrets of a request.
   *
   * @throws egress_secret, egress_header, egress_body, and the errors of `room.hold` and of a login
   */
  reveal(
    request: OutgoingRequest,
    url: URL,
    target: SecretTarget,
    room: RequestLimits & {
      /** Ends the wait for a login. */
      signal: AbortSignal
    },
  ): Promise<Sent>
  /** The same without the exchange's token, for the request that obtains it. */
  beforeLogin: Pick<Blind, 'reveal' | 'headers' | 'body'>
  headers: Conceal['headers']
  body: Conceal['body']
}

type Sight = Blind['beforeLogin']

/** For calls without secrets: changes nothing. */
const PASS_THROUGH: Sight = {
  reveal: async (request, url) => ({ url, request, token: null }),
  headers: async (headers) => headers,
  body: async (body) => body,
}

/** Creates the blind of one call. `null` means a call that has neither secrets nor a login. */
export function createBlind(secrets: CallSecrets | null, login: () => Login | null): Blind {
  if (secrets === null) return { ...PASS_THROUGH, beforeLogin: PASS_THROUGH }
  const own = secrets
  const { marks, call } = own
  const conceal = createConceal(() => concealed(secrets))
  const signatures = createSignatures(Date.now)

  /** Returns the value of a placeholder, if it may be sent there. */
  async function resolve(
    meaning: Meaning,
    placeholder: string,
    target: SecretTarget,
    token: () => Promise<Token | null>,
  ): Promise<string> {
    if ('secret' in meaning) return secretOf(meaning.secret, own, target)
    if ('exchange' in meaning) {
      for (const owner of login()?.owners ?? []) allow(owner, target)
      const made = await token()
      if (made === null) throw misplaced('foreign')
      return made.value
    }
    const asked = readSigningRequest(meaning.sign, own)
    if (SIGNING[asked.name].signs === 'request') throw misplaced('signature')
    allow(asked.owner, target)
    const value = await signatures.text(asked, placeholder)
    conceal.add({ value, instead: placeholder })
    return value
  }

  /** Signs the whole request. Last, because the signature covers all other parts. */
  async function signed(
    { url, request, signature }: Revealed,
    target: SecretTarget,
  ): Promise<Omit<Sent, 'token'>> {
    if (signature === null) return { url, request }
    const asked = readSigningRequest(signature, own)
    allow(asked.owner, target)
    const made = await signatures.request(asked, { ...request, url })
    conceal.add({ value: made.signature, instead: signPlaceholder(marks, call, signature) })
    let { headers } = request
    for (const [name, value] of made.headers) headers = withHeader(headers, name, value)
    return { url, request: { ...request, headers } }
  }

  /** Returns the token, and registers it for replies. It is obtained when the first request needs it. */
  async function token(signal: AbortSignal): Promise<Token | null> {
    const made = (await login()?.token(signal)) ?? null
    if (made !== null) conceal.add({ value: made.value, instead: exchangePlaceholder(marks, call) })
    return made
  }

  const revealing =
    (getToken: (signal: AbortSignal) => Promise<Token | null>): Sight['reveal'] =>
    async (request, url, target, room) => {
      let used: Token | null = null
      const once = async () => {
        used ??= await getToken(room.signal)
        return used
      }
      const deps = {
        marks,
        call,
        resolve: (meaning: Meaning, placeholder: string) =>
          resolve(meaning, placeholder, target, once),
        signsRequest: (sign: string) =>
          SIGNING[readSigningRequest(sign, secrets).name].signs === 'request',
        room,
        onBasic: (value: string, instead: string) => conceal.add({ value, instead }),
      }
      const revealed = await reveal(request, url, deps)
      const { owners = [], header } = getToken === token ? (login() ?? {}) : {}
      if (header && owners.every((owner) => isAllowed(owner, target))) {
        const made = await once()
        if (made !== null)
          revealed.request.headers = withHeader(
            revealed.request.headers,
            header.name,
            header.value(made.value),
          )
      }
      return { ...(await signed(revealed, target)), token: used }
    }

  const replies = secrets.conceals ? conceals(conceal) : SIGHTED_REPLIES
  return {
    reveal: revealing(token),
    ...replies,
    beforeLogin: { reveal: revealing(async () => null), ...replies },
  }
}

const SIGHTED_REPLIES = { headers: PASS_THROUGH.headers, body: PASS_THROUGH.body }

const conceals = ({ headers, body }: Conceal) => ({ headers, body })

/**
 * Returns a secret that may be sent to the target.
 *
 * @throws egress_secret, and request_invalid for a lone surrogate, which would be sent as another character
 * and so as another password
 */
function secretOf(index: number, { secrets }: CallSecrets, target: SecretTarget): string {
  const held = secrets[index]
  if (held === undefined) throw misplaced('foreign')
  allow(held.owner, target)
  if (!held.value.isWellFormed())
    throw new RuntimeError(
      'request_invalid',
      `A secret of ${held.owner} holds half of a character (a lone surrogate)`,
    )
  return held.value
}

const isAllowed = (owner: string, { secrets }: Pick<SecretTarget, 'secrets'>): boolean =>
  secrets === null || secrets.includes(owner)

/** @throws egress_secret if the entry lists its secrets without this one, or if the host signs in with it */
function allow(owner: string, { field, secrets, origin, signsIn }: SecretTarget): void {
  // A server that compares values could be used to find the secret letter by letter.
  if (owner === signsIn)
    throw refuseSecret(
      `The secret of ${owner} stands in no request to ${origin}: the host signs in there by it`,
    )
  if (isAllowed(owner, { secrets })) return
  throw refuseSecret(
    `The secret of ${owner} may not go to ${origin}: "secrets" of ${field.replace(/\.url$/, '')} names ${secrets?.join(', ') || 'none'}`,
  )
}

/** Returns the secrets that a guest does not know otherwise, and the pairs of Basic credentials. */
function concealed({ secrets, clear, sealed }: CallSecrets): Concealed[] {
  const unknown = new Set(secrets.map(({ value }) => value))
  eachText(sealed, (text) => unknown.delete(text))
  const held = secrets
    .filter(({ value }) => unknown.has(value))
    .map(({ value, placeholder }) => ({ value, instead: placeholder }))
  const pairs = [
    [clear.auth, sealed.auth] as const,
    ...Object.keys(clear.credentials ?? {}).map(
      (id) => [clear.credentials?.[id], sealed.credentials?.[id]] as const,
    ),
  ].flatMap(([open, shut]) =>
    open?.basic && shut?.basic
      ? [
          {
            value: `${open.basic.username}:${open.basic.password}`,
            instead: `${shut.basic.username}:${shut.basic.password}`,
          },
        ]
      : [],
  )
  return [...pairs, ...held]
}

/** Calls `visit` with every text and every name in a JSON value. */
function eachText(value: unknown, visit: (text: string) => void): void {
  if (typeof value === 'string') visit(value)
  if (typeof value !== 'object' || value === null) return
  for (const [name, one] of Object.entries(value)) {
    visit(name)
    eachText(one, visit)
  }
}
