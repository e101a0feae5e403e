/**
 * The manifest's `exchange`, for one call: a login or token exchange that the host performs, so that the
 * connector never holds the token. Its requests pass egress like all others.
 */
import type { CallSecrets } from '../../contract/connector/secrets.ts'
import { createRedact, type Redact } from '../../redact/redact.ts'
import type { EgressCall, EgressReply, HopReply, Token } from '../call/call.ts'
import { mayBeWithdrawn } from '../call/withdrawn-grant.ts'
import type { OutgoingRequest } from '../exchange/exchange.ts'
import { endedError } from '../exchange/failures.ts'
import { capture } from './capture.ts'
import { exchangeRequest, ownersOf } from './template.ts'
import type { Tokens } from './tokens.ts'

export type Login = {
  /** Owners of the secrets in the exchange. */
  owners: readonly string[]
  /** Header that carries the token. */
  header: { name: string; value(token: string): string }
  /**
   * Returns the token, after a login if there is none.
   *
   * @param signal Ends the wait of one request; other requests of the call continue.
   * @throws exchange_failed, exchange_empty, and the errors of a request
   */
  token(signal: AbortSignal): Promise<Token>
  drop(token: Token): void
}

/** Creates the login of a call, or returns null if its connector declares none. */
export function createLogin(
  call: EgressCall,
  tokens: Tokens,
  send: (request: OutgoingRequest) => Promise<EgressReply>,
): Login | null {
  const { secrets } = call
  const { exchange } = call.manifest
  if (exchange === undefined || secrets === null) return null
  const { header, value = /^authorization$/i.test(header) ? 'Bearer {exchange}' : '{exchange}' } =
    exchange.use
  /** A failure holds for the whole call: repeated attempts may lock an account. */
  let failure: { error: unknown } | null = null
  let key: string | null = null
  const declared = exchange
  const owners = ownersOf(exchange, secrets)
  const hide = hiding(secrets, owners)

  /** @throws the error. Keeps it for later attempts unless it is about a grant, which may change */
  function fail(error: unknown): never {
    if (!mayBeWithdrawn(error)) failure = { error }
    throw error
  }

  async function make(request: OutgoingRequest): Promise<Token> {
    const reply = await send(request)
    return capture(reply, declared, Date.now(), hide)
  }

  return {
    owners,
    header: { name: header, value: (token) => value.replaceAll('{exchange}', () => token) },
    async token(signal) {
      for (;;) {
        if (failure !== null) throw failure.error
        // Current manifest: a token obtained under another one is not used after the operator has withdrawn a
        // grant.
        const { manifest } = call
        let isMine = false
        try {
          const request = exchangeRequest(exchange, manifest, secrets)
          key = `${new URL(request.url).origin} ${secrets.tenant}`
          const login = () => {
            isMine = true
            return make(request).catch(fail)
          }
          return await tokens.get(manifest, key, login, signal)
        } catch (error) {
          if (signal.aborted) throw endedError(signal, 'the login')
          // The call that logged in has lost its grant; this one may still have its own.
          if (!isMine && (mayBeWithdrawn(error) || call.manifest !== manifest)) continue
          fail(error)
        }
      }
    },
    drop(token) {
      if (key !== null) tokens.drop(call.manifest, key, token)
    },
  }
}

/**
 * Returns a function that removes the login's secrets from a refusal, however short they are, and the pair of
 * HTTP Basic.
 */
function hiding({ secrets, clear }: CallSecrets, owners: readonly string[]): Redact {
  return createRedact(
    () => [],
    () => [
      ...secrets.filter(({ owner }) => owners.includes(owner)).map(({ value }) => value),
      ...[clear.auth, ...Object.values(clear.credentials ?? {})].flatMap((one) =>
        one?.basic ? [`${one.basic.username}:${one.basic.password}`] : [],
      ),
    ],
  )
}

/** Sends a request again with a new token if a kept token is answered with 401. Only once. */
export function renewing(
  send: (request: OutgoingRequest) => Promise<HopReply>,
  login: Login,
): (request: OutgoingRequest) => Promise<HopReply> {
  let renewed = false
  return async (request) => {
    const begunMs = performance.now()
    const reply = await send(request)
    const { token } = reply
    if (reply.status !== 401 || token === null || renewed || token.madeMs >= begunMs) return reply
    renewed = true
    reply.discard()
    login.drop(token)
    return send(request)
  }
}
