/**
 * The manifest's `exchange`, for one call: a login or token exchange that the host performs, so that the
 * connector never holds what it gives. All its requests pass the door like any other.
 */
import type { CallSecrets } from '../../contract/connector/secrets.ts'
import { createRedact, type Redact } from '../../redact/redact.ts'
import type { EgressCall, EgressReply, HopReply, Token } from '../call/call.ts'
import { isTakenBack } from '../call/taken.ts'
import type { OutgoingRequest } from '../exchange/exchange.ts'
import { endedError } from '../exchange/failures.ts'
import { capture } from './capture.ts'
import { exchangeRequest, ownersOf } from './template.ts'
import type { Tokens } from './tokens.ts'

export type Login = {
  /** Whose secrets the token is made of. */
  owners: readonly string[]
  /** The header that carries it. */
  header: { name: string; value(token: string): string }
  /**
   * @param signal Ends the wait of one request; other requests of the call go on.
   * @throws exchange_failed, exchange_empty, and what a request throws
   */
  token(signal: AbortSignal): Promise<Token>
  drop(token: Token): void
}

/** The login of a call, or null where its connector declares none. */
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
  /** What failed once in a call fails again: an account may be locked after some attempts. */
  let failure: { error: unknown } | null = null
  let key: string | null = null
  const declared = exchange
  const owners = ownersOf(exchange, secrets)
  const hide = hiding(secrets, owners)

  /** @throws the error, and keeps it for later attempts unless it is about a grant, which may change */
  function fail(error: unknown): never {
    if (!isTakenBack(error)) failure = { error }
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
        // As it is now: what was kept under another one is not used once the operator has taken something back.
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
          if (!isMine && (isTakenBack(error) || call.manifest !== manifest)) continue
          fail(error)
        }
      }
    },
    drop(token) {
      if (key !== null) tokens.drop(call.manifest, key, token)
    },
  }
}

/** Takes what a login sends out of what it is refused with, however short it is, and as the pair of Basic. */
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

/** Sends once more, with a new token, where one that was kept is answered with 401; never twice. */
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
