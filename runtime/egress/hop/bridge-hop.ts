/**
 * One request of a bridge (`ctx.ldap`, `ctx.sql`) through the door: read, judged, secrets, its turn, the server,
 * secrets out again.
 */

import type { EgressEntry } from '../../contract/connector/manifest.ts'
import type { CallSecrets } from '../../contract/connector/secrets.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { EgressCall, EgressReply, EgressRequest } from '../call/call.ts'
import { createBridgeRecord } from '../rules/records.ts'
import { hostAndPort } from '../wire/open.ts'
import type { Performed, RoomMeans } from '../wire/room.ts'
import { type CallState, createFinish, type Door, governorOf, whileGranted } from './hop.ts'
import type { OnHop, SeenHop } from './seen.ts'

/** What an entry of the manifest stands for in one call, as far as every bridge has it. */
type Target = { field: string; origin: string; secrets: readonly string[] | null }

/** What a reply holds, once it is known to be no refusal. */
type Found = { items: number }

/** What a refusal is called, and the closest status of HTTP. */
type Refused = { name: string; status: number }

/** One bridge: `R` is a request of it, `T` an entry as it stands for a call, `L` who logs in. */
export type Bridge<R, T extends Target, L> = {
  /** The address of all its requests. */
  url: string
  read(method: string, body: Uint8Array | null): R
  judge(request: R, targets: readonly T[]): T
  targets(call: EgressCall): T[]
  /** The credential that signs in; null for nobody. */
  signsIn(target: T): string | null
  login(target: T, held: CallSecrets | null): L
  writes(request: R): boolean
  /** Names and sizes for the record, and what stands behind the host. */
  tell(request: R): string
  path(request: R): string
  /** What is declared to be asked for by that path, short and without values. */
  text?(request: R, target: T): string
  /** The address that stands for a request in cases and records of them, and the body without what it tells. */
  addressOf(request: R, target: T): string
  caseBody(body: Record<string, unknown>): object
  perform(request: R, target: T, login: L, means: RoomMeans, door: Door): Promise<Performed>
  /** How many items a body holds, by its own field. @throws what a scripted refusal stands for */
  found(body: unknown, from: string): Found
  /** What the record calls them; null for a request that has none. */
  items(request: R): string | null
  /** By which refusal of the server an error came; null for any other error. */
  refusedBy(error: unknown): Refused | null
  /** What a case writes for a refusal: its name alone, for servers word it in their own ways. */
  refusal(refused: Refused): object
}

/** The entries that a capability has: its own, or those of the manifest. @param resolve May throw egress_setting */
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
 * @throws egress_*, what the server refused by, upstream_*, or what the signal was aborted with
 */
export async function bridgeHop<R, T extends Target, L>(
  bridge: Bridge<R, T, L>,
  asked: Omit<EgressRequest, 'signal'>,
  call: EgressCall,
  { state, door }: { state: CallState; door: Door },
  onHop?: OnHop,
): Promise<EgressReply> {
  const record = createBridgeRecord(asked.method.slice(0, 20))
  if (state.records.length < door.limits.maxRecords) state.records.push(record)
  const held = state.budgets.holdReply()
  const grown = state.budgets.holdRequest()
  const turn = { leave: () => {} }
  const finish = createFinish(record, [held, grown], turn)
  let hop: SeenHop | null = null
  try {
    const { endMs = Number.POSITIVE_INFINITY, signal } = call
    const judge = () => bridge.judge(bridge.read(asked.method, asked.body), bridge.targets(call))
    const granted = { call, turn, judge, underWay: door.underWay }
    const { sent, request, target, login, governor } = await whileGranted(
      granted,
      async (judged) => {
        // What an earlier round held, if there was one.
        grown.release()
        record.host = hostAndPort(judged)
        const { request: sent } = await state.blind.reveal(
          { ...asked, headers: [['content-type', 'application/json']] },
          new URL(judged.origin),
          { ...judged, signsIn: bridge.signsIn(judged) },
          {
            maxHeaderBytes: door.limits.maxHeaderBytes,
            maxRequestBytes: door.limits.maxRequestBytes,
            hold: (bytes) => grown.add(bytes),
            signal,
          },
        )
        // Read and judged again as it is sent: a secret may have stood in what was judged.
        const request = bridge.read(asked.method, sent.body)
        const target = bridge.judge(request, [judged])
        record.path = bridge.path(request)
        record.query = bridge.tell(request)
        if (bridge.text !== undefined) record.text = bridge.text(request, target)
        const login = bridge.login(target, call.secrets)
        const governor = governorOf(target, call, door)
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
    const { method } = asked
    const { secrets } = call
    hop = { method, url: address, isLogin: false, secrets, token: null, reply: null }
    onHop?.(hop)
    const { status, body, found } = await answer()
    const said = await state.blind.body(body, {
      maxBytes: door.limits.maxReplyBytes,
      hold: (bytes) => held.add(bytes),
    })
    record.status = status
    hop.reply = { status, headers: [], body: said }
    const { items } = found ?? bridge.found(parsed(said, record.host), record.host)
    const word = bridge.items(request)
    if (word !== null) record.query += `${record.query === '' ? '?' : '&'}${word}=${items}`
    finish(null)
    return {
      status: 200,
      url: bridge.url,
      redirected: false,
      headers: [['content-type', 'application/json']],
      body: said,
    }

    /** From the server, or from what stands for the network: that one says only in its body what was found. */
    async function answer() {
      if (door.standIn === null) {
        const { tenant, connectorId } = call
        const read = (bytes: number) => state.budgets.read(bytes)
        const means = { connectorId, tenant, signal, endMs, onSend, onBytes, read }
        const performed = await bridge.perform(request, target, login, means, door)
        const { body, items, sent: requests = 1 } = performed
        if (requests !== 1) governor.count(requests - 1)
        return { status: 200, body, found: { items } }
      }
      onSend()
      // It was read before: it is an object.
      const whole = JSON.parse(Buffer.from(sent.body ?? []).toString('utf8'))
      const plain = Buffer.from(JSON.stringify(bridge.caseBody(whole)))
      const reply = await door.standIn(address, asked.method, plain, signal)
      onBytes(reply.body.length)
      return { ...reply, found: null }
    }
  } catch (error) {
    // Recorded and thrown on, as every hop.
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

/** The code by which a server refused, of an error of this kind. */
export const refusalCodeOf = (
  error: unknown,
  kind: 'directory_refused' | 'database_refused',
): string | null =>
  error instanceof RuntimeError && error.code === kind ? (error.details.appErrorCode ?? null) : null
