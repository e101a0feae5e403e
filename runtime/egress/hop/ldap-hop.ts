/** One request of `ctx.ldap` through the door: read, judged, secrets, its turn, the directory, secrets out again. */
import {
  codeNamed,
  LDAP_OPERATIONS,
  type LdapRequest,
  operationOf,
  resultOf,
} from '../../contract/connector/ldap.ts'
import { LDAP_URL } from '../../contract/connector/ldap-context.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { EgressCall, EgressReply, EgressRequest } from '../call/call.ts'
import { judgeAsked, readAsked, tellAsked } from '../ldap/asked.ts'
import { hostAndPort } from '../ldap/connect.ts'
import { refusal } from '../ldap/results.ts'
import { bindOf } from '../ldap/room.ts'
import { type LdapTarget, resolveLdap } from '../rules/ldap-rules.ts'
import { createLdapRecord } from '../rules/records.ts'
import { type CallState, createFinish, type Door, governorOf } from './hop.ts'
import type { OnHop, SeenHop } from './seen.ts'

/** Whether a request of the guest is one of `ctx.ldap`. */
export const isLdapUrl = (url: string): boolean => url === LDAP_URL

/** The directories that a call may reach. @throws egress_setting */
export function targetsOf({ manifest, capability, level, settings }: EgressCall): LdapTarget[] {
  const declared = Object.hasOwn(manifest.capabilities, capability)
    ? manifest.capabilities[capability]?.egress
    : undefined
  return declared === undefined
    ? resolveLdap(manifest.egress, { level, settings })
    : resolveLdap(declared, { level, settings, field: `capabilities.${capability}.egress` })
}

/**
 * Performs one request.
 *
 * @throws egress_*, directory_refused, upstream_*, or what the signal was aborted with
 */
export async function ldapHop(
  asked: Omit<EgressRequest, 'signal'>,
  call: EgressCall,
  { state, door }: { state: CallState; door: Door },
  onHop?: OnHop,
): Promise<EgressReply> {
  const operation = operationOf(asked.method)
  const record = createLdapRecord(asked.method.slice(0, 20))
  if (state.records.length < door.limits.maxRecords) state.records.push(record)
  const held = state.budgets.holdReply()
  const grown = state.budgets.holdRequest()
  const turn = { leave: () => {} }
  const finish = createFinish(record, [held, grown], turn)
  let hop: SeenHop | null = null
  try {
    const targets = targetsOf(call)
    const judged = judgeAsked(readAsked(asked.method, asked.body), targets)
    const address = new URL(judged.origin)
    record.host = hostAndPort(judged)
    const { request: sent } = await state.blind.reveal(
      { ...asked, headers: [['content-type', 'application/json']] },
      address,
      { field: judged.field, secrets: judged.secrets, origin: judged.origin },
      {
        maxHeaderBytes: door.limits.maxHeaderBytes,
        maxRequestBytes: door.limits.maxRequestBytes,
        hold: (bytes) => grown.add(bytes),
      },
    )
    // Read and judged again as it is sent: a secret may have stood in a DN.
    const request = readAsked(asked.method, sent.body)
    const target = judgeAsked(request, [judged])
    record.query = tellAsked(request)
    const bind = bindOf(target, call.secrets)
    const { endMs = Number.POSITIVE_INFINITY, signal } = call
    const governor = governorOf(target, call, door)
    turn.leave = await governor.enter({ endMs, signal, from: record.host })
    const onSend = () => {
      record.sent = true
      record.sentBytes = sent.body?.byteLength ?? 0
      state.wrote ||= operation !== null && LDAP_OPERATIONS[operation].writes
    }
    const onBytes = (bytes: number) => {
      record.receivedBytes += bytes
      held.add(bytes)
    }
    hop = seenHop(asked.method, addressOf(request, target), call)
    onHop?.(hop)
    const { status, body, found } = await answer()
    const said = await state.blind.body(body, {
      maxBytes: door.limits.maxReplyBytes,
      hold: (bytes) => held.add(bytes),
    })
    record.status = status
    hop.reply = { status, headers: [], body: said }
    const entries = found ?? successOf(said, record.host)
    if (operation === 'search') record.query += `&entries=${entries}`
    finish(null)
    return {
      status: 200,
      url: LDAP_URL,
      redirected: false,
      headers: [['content-type', 'application/json']],
      body: said,
    }

    /** From the directory, or from what stands for the network: that one says only in its body what was found. */
    async function answer() {
      if (door.standIn === null) {
        const { tenant, connectorId } = call
        const read = (bytes: number) => state.budgets.read(bytes)
        const means = { connectorId, tenant, bind, signal, endMs, onSend, onBytes, read }
        const done: { entries?: unknown[] } = await door.ldap.perform(request, target, means)
        const body = Buffer.from(JSON.stringify(done))
        return { status: 200, body, found: done.entries?.length ?? 0 }
      }
      onSend()
      const plain = bodyWithoutDn(sent.body)
      const reply = await door.standIn(addressOf(request, target), asked.method, plain, signal)
      onBytes(reply.body.length)
      return { ...reply, found: null }
    }
  } catch (error) {
    // Recorded and thrown on, as every hop.
    const code = codeNamed(refusedBy(error) ?? '')
    if (code !== null) {
      record.status = resultOf(code).status
      if (hop !== null) hop.reply ??= refusedReply(code)
    }
    finish(error)
    throw error
  }
}

/** The address that stands for a request in cases and records of them: the DN as its path, as in RFC 4516. */
function addressOf(request: LdapRequest, { origin, baseText }: LdapTarget): string {
  const dn = request.operation === 'search' ? (request.base ?? baseText) : request.dn
  const path = encodeURIComponent(dn).replace(/%(2C|3D|2B)/g, (all) => decodeURIComponent(all))
  return `${origin}/${path}`
}

/** The body without what is told by the address, as the connector wrote it. */
function bodyWithoutDn(body: Uint8Array | null): Buffer {
  // It was read before: it is an object.
  const { dn, base, ...rest } = JSON.parse(Buffer.from(body ?? []).toString('utf8'))
  return Buffer.from(JSON.stringify(rest))
}

const seenHop = (method: string, url: string, { secrets }: EgressCall): SeenHop => ({
  method,
  url,
  isLogin: false,
  secrets,
  token: null,
  reply: null,
})

/** The name of the result by which a directory refused. */
const refusedBy = (error: unknown): string | null =>
  error instanceof RuntimeError && error.code === 'directory_refused'
    ? (error.details.appErrorCode ?? null)
    : null

/** What a case writes for a refusal: the name of the result alone, for servers word it in their own ways. */
const refusedReply = (code: number): NonNullable<SeenHop['reply']> => ({
  status: 200,
  headers: [],
  body: Buffer.from(JSON.stringify({ result: resultOf(code).name })),
})

/**
 * How many entries came from a stand-in, which answers with the name of a result; the real room throws before.
 *
 * @throws directory_refused, upstream_garbled
 */
function successOf(body: Buffer, from: string): number {
  let told: unknown
  try {
    told = JSON.parse(body.toString('utf8'))
  } catch {
    throw new RuntimeError('upstream_garbled', `${from} did not answer with JSON`)
  }
  const reply = Object(told) as { result?: unknown; message?: unknown; entries?: unknown }
  const { result = 'success', message, entries } = reply
  if (result === 'success') return Array.isArray(entries) ? entries.length : 0
  const code = codeNamed(String(result))
  if (code !== null) throw refusal(code, typeof message === 'string' ? message : '', from)
  throw new RuntimeError(
    'upstream_garbled',
    `${from} answered ${String(result).slice(0, 60)}, which is no result of LDAP: write success, noSuchObject or another name of the LDAP page`,
  )
}
