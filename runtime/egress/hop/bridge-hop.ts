/**
 * One request of a bridge (`ctx.ldap`, `ctx.sql`) through egress: read, judge, fill in secrets, wait for a
 * turn, ask the server, remove secrets from the reply.
 */

import type { EgressEntry } from '../../contract/connector/manifest.ts'
import type { CallSecrets } from '../../contract/connector/secrets.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { EgressCall, EgressReply, EgressRequest } from '../call/call.ts'
import { createBridgeRecord } from '../rules/records.ts'
import { hostAndPort } from '../wire/open.ts'
import type { Performed, WireDeps } from '../wire/wire-client.ts'
import { type CallState, createFinish, governorOf, type HopDeps, whileGranted } from './hop.ts'
import type { OnHop, SeenHop } from './observed-hops.ts'

/** Egress entry of the manifest, resolved for one call: the part that every bridge has. */
type Target = { field: string; origin: string; secrets: readonly string[] | null }

/** Contents of a reply that is not a refusal. */
type Found = { items: number }

/** Name of a refusal, and the closest HTTP status. */
type Refused = { name: string; status: number }

/** One bridge. `R` is its request, `T` a resolved egress entry, `L` a login. */
export type Bridge<R, T extends Target, L> = {
  /** URL of all its requests. */
  url: string
  read(method: string, body: Uint8Array | null): R
  judge(request: R, targets: readonly T[]): T
  targets(call: EgressCall): T[]
  /** Returns the credential that signs in, or null for an anonymous connection. */
  signsIn(target: T): string | null
  login(target: T, held: CallSecrets | null): L
  writes(request: R): boolean
  /** Returns names and sizes of the request, for the record. `path` returns the record's path. */
  tell(request: R): string
  path(request: R): string
  /** Returns the declared text behind that path, short and without values. */
  text?(request: R, target: T): string
  /**
   * Returns the URL of a request in test cases and their records. `caseBody` returns the body without the
   * parts in that URL.
   */
  addressOf(request: R, target: T): string
  caseBody(body: Record<string, unknown>): object
  perform(request: R, target: T, login: L, wire: WireDeps, deps: HopDeps): Promise<Performed>
  /**
   * Returns the number of items in a body, from the bridge's own field.
   *
   * @throws the error of a scripted refusal
   */
  found(body: unknown, from: string): Found
  /** Returns the name of the items in the record, or null if a request has none. */
  items(request: R): string | null
  /** Returns the server's refusal that caused an error, or null for any other error. */
  refusedBy(error: unknown): Refused | null
  /** Returns a refusal as a test case contains it: only its name, because servers word it differently. */
  refusal(refused: Refused): object
}

/**
 * Returns the resolved egress entries of a capability: its own, or the manifest's.
 *
 * @param resolve May throw egress_setting
 */
export function targetsBy<T>(
  { manifest, capability }: EgressCall,
  resolve: (entries: readonly EgressEntry[], field: string) => T[],
): T[] {
  const declared = Object.hasOwn(manifest.capabilities, capability)
    ? manifest.capabilities[capability]?.egress
    : undefined
  return declared === undefined
    ? resolve(manifest.egress, 'egress')
    : resolve(declared, `capabilities.${capability}.egress`)
}

/**
 * Performs one request.
 *
 * @throws egress_*, the server's refusal, upstream_*, or the reason of the signal
 */
export async function bridgeHop<R, T extends Target, L>(
  bridge: Bridge<R, T, L>,
  unfilled: Omit<EgressRequest, 'signal'>,
  call: EgressCall,
  { state, deps }: { state: CallState; deps: HopDeps },
  onHop?: OnHop,
): Promise<EgressReply> {
  const record = createBridgeRecord(unfilled.method.slice(0, 20))
  if (state.records.length < deps.limits.maxRecords) state.records.push(record)
  const held = state.budgets.holdReply()
  const secretBytes = state.budgets.holdRequest()
  const turn = { leave: () => {} }
  const finish = createFinish(record, [held, secretBytes], turn)
  let hop: SeenHop | null = null
  try {
    const { endMs = Number.POSITIVE_INFINITY, signal } = call
    const judge = () =>
      bridge.judge(bridge.read(unfilled.method, unfilled.body), bridge.targets(call))
    const granted = { call, turn, judge, underWay: deps.underWay }
    const { sent, request, target, login, governor } = await whileGranted(
      granted,
      async (judged) => {
        // Amount held by an earlier round, if there was one.
        secretBytes.release()
        record.host = hostAndPort(judged)
        const { request: sent } = await state.blind.reveal(
          { ...unfilled, headers: [['content-type', 'application/json']] },
          new URL(judged.origin),
          { ...judged, signsIn: bridge.signsIn(judged) },
          {
            maxHeaderBytes: deps.limits.maxHeaderBytes,
            maxRequestBytes: deps.limits.maxRequestBytes,
            hold: (bytes) => secretBytes.add(bytes),
            signal,
          },
        )
        // Read and judge the request again as it is sent: the judged one may have contained a placeholder.
        const request = bridge.read(unfilled.method, sent.body)
        const target = bridge.judge(request, [judged])
        record.path = bridge.path(request)
        record.query = bridge.tell(request)
        if (bridge.text !== undefined) record.text = bridge.text(request, target)
        const login = bridge.login(target, call.secrets)
        const governor = governorOf(target, call, deps)
        turn.leave = await governor.enter({ endMs, signal, from: record.host })
        return { sent, request, target, login, governor }
      },
    )
    const onSend = () => {
      record.sent = true
      record.sentBytes = sent.body?.byteLength ?? 0
      state.wrote ||= bridge.writes(request)
    }
    const onBytes = (bytes: number) => {
      record.receivedBytes += bytes
      held.add(bytes)
    }
    const address = bridge.addressOf(request, target)
    const { method } = unfilled
    const { secrets } = call
    hop = { method, url: address, isLogin: false, secrets, token: null, reply: null }
    onHop?.(hop)
    const { status, body, found } = await answer()
    const concealed = await state.blind.body(body, {
      maxBytes: deps.limits.maxReplyBytes,
      hold: (bytes) => held.add(bytes),
    })
    record.status = status
    hop.reply = { status, headers: [], body: concealed }
    const { items } = found ?? bridge.found(parsed(concealed, record.host), record.host)
    const itemsName = bridge.items(request)
    if (itemsName !== null)
      record.query += `${record.query === '' ? '?' : '&'}${itemsName}=${items}`
    finish(null)
    return {
      status: 200,
      url: bridge.url,
      redirected: false,
      headers: [['content-type', 'application/json']],
      body: concealed,
    }

    /** Asks the server, or the replacement of the network, whose items are only in the body. */
    async function answer() {
      if (deps.standIn === null) {
        const { tenant, connectorId } = call
        const read = (bytes: number) => state.budgets.read(bytes)
        const wire = { connectorId, tenant, signal, endMs, onSend, onBytes, read }
        const performed = await bridge.perform(request, target, login, wire, deps)
        const { body, items, sent: requests = 1 } = performed
        if (requests !== 1) governor.count(requests - 1)
        return { status: 200, body, found: { items } }
      }
      onSend()
      // Parsed before, so it is an object.
      const whole = JSON.parse(Buffer.from(sent.body ?? []).toString('utf8'))
      const plain = Buffer.from(JSON.stringify(bridge.caseBody(whole)))
      const reply = await deps.standIn(address, unfilled.method, plain, signal)
      onBytes(reply.body.length)
      return { ...reply, found: null }
    }
  } catch (error) {
    // Recorded and rethrown, as in every hop.
    const refused = bridge.refusedBy(error)
    if (refused !== null) {
      record.status = refused.status
      if (hop !== null)
        hop.reply ??= {
          status: 200,
          headers: [],
          body: Buffer.from(JSON.stringify(bridge.refusal(refused))),
        }
    }
    finish(error)
    throw error
  }
}

function parsed(body: Buffer, from: string): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    throw new RuntimeError('upstream_garbled', `${from} did not answer with JSON`)
  }
}

/** Returns the code of the server's refusal in an error of this kind, or null. */
export const refusalCodeOf = (
  error: unknown,
  kind: 'directory_refused' | 'database_refused',
): string | null =>
  error instanceof RuntimeError && error.code === kind ? (error.details.appErrorCode ?? null) : null
