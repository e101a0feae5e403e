/**
 * `GET /operator/proof`, without a token. With it, a command checks that the program at the port knows the
 * token before sending it. Any program can listen on a port, but only the host knows the token.
 */
import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'
import * as v from 'valibot'
import { parseParams, text } from '../../contract/endpoints/params.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { conflict } from '../../contract/errors/problem.ts'
import { described, strictObject } from '../../contract/schema/schemas.ts'
import { provedTokens } from '../../core/sign-in/host-proof.ts'
import { hostProof, hostProofKey } from '../../secrets/key-derivation.ts'
import type { Env } from '../edge/env.ts'
import { type OperatorGuardDeps, reached } from './guard.ts'

/** Query of the request. */
export const PROOF_QUERY = {
  prefix: text().describe('The first 12 characters of the token'),
  nonce: text().describe('43 random characters, new for each question'),
  address: text().describe('`host:port` as it was reached'),
}

/** Body of the answer. */
export const HostProof = strictObject('HostProof', 'That the host knows a token', {
  proofs: described(
    v.array(v.string()),
    'One for each token of that beginning; none where there is none',
  ),
})

/**
 * Proves that this host knows a token.
 *
 * @throws CoreError `conflict` for a port other than this host's; RuntimeError `input_invalid`,
 * `database_away`
 */
export async function proveHost(
  c: Context<Env>,
  { operator, db, hasher }: OperatorGuardDeps,
): Promise<Response> {
  const { values } = parseParams(PROOF_QUERY, new URL(c.req.url).searchParams)
  const { prefix = '', nonce = '', address = '' } = values
  const isWhole =
    /^lsk_[\x21-\x7e]{8}$/.test(prefix ?? '') &&
    /^[\w-]{43}$/.test(nonce ?? '') &&
    /^\S{3,260}$/.test(address ?? '')
  if (!isWhole || prefix === null || nonce === null || address === null)
    throw new RuntimeError(
      'input_invalid',
      'prefix, nonce and address do not have the form that a command sends',
    )
  refuseOthers(c, address)
  c.header('cache-control', 'no-store')
  const challenge = { nonce, address }
  if (prefix === hasher.prefixOf(operator.token))
    return c.json({ proofs: [hostProof(hostProofKey(operator.token), challenge)] })
  return c.json({ proofs: await provedTokens(reached(db()), prefix, challenge) })
}

/**
 * Refuses a challenge for another port. A program that relays the challenge was reached at its own port, and
 * must not get a proof for this host.
 */
function refuseOthers(c: Context<Env>, address: string): void {
  const { incoming }: { incoming?: IncomingMessage } = c.env ?? {}
  const port = incoming?.socket?.localPort
  if (port === undefined || address.endsWith(`:${port}`)) return
  throw conflict(
    `this host listens on port ${port}, not at ${address.slice(0, 100)}: reach it at its own port, or by https`,
  )
}
