/**
 * Client of the running host for its operator. Commands that need the database do not open it themselves,
 * because the embedded one can be used only by the host.
 */
import http from 'node:http'
import https from 'node:https'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { type Config, ConfigError, readConfig } from '../../config/config.ts'
import { codeOf, messageOf } from '../../contract/errors/thrown.ts'
import { placeAt } from '../../contract/schema/place.ts'
import { isRecord, membersOf } from '../../contract/schema/record.ts'
import { hostProof, hostProofKey, randomSecret } from '../../secrets/key-derivation.ts'
import { readKeptSecret } from '../../secrets/secret-files.ts'
import { notThere } from '../terminal/unknown-name.ts'

/** A host and the operator's token for it. */
type OperatorTarget = {
  /** Without a path. */
  url: URL
  token: string
  /** Source of the token, for messages. */
  tokenFrom: string
}

export type OperatorCall = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Including the query. */
  path: string
  contentType?: string
  headers?: Record<string, string>
  /** A function creates a new stream for each attempt. */
  body?: string | (() => Readable)
  /** Length of the body in bytes, if known. */
  length?: number
  /** Maximum time for the host's response, in milliseconds. */
  patienceMs?: number
}

/** Error for a request that the host refused. `raw` is the machine-readable part of the response. */
export class RefusedError extends ConfigError {
  readonly raw: Record<string, unknown>

  constructor(message: string, raw: Record<string, unknown>) {
    super(message)
    this.raw = raw
  }
}

/** Default maximum time for the host's response, in milliseconds. */
const PATIENCE_MS = 10_000
/** Maximum time to wait for the host's database, and the pause between two attempts, in milliseconds. */
const DATABASE_PATIENCE_MS = 20_000
const PAUSE_MS = 1000
/** Number of characters by which a host finds a token: its prefix and eight more. */
const PREFIX_LENGTH = 12

/** Overrides for settings that only concern a starting host, so that errors in them do not stop a command. */
export const UNUSED = { KEYWAY_OPEN_CONNECTORS: '1', KEYWAY_SECRET: '' }

/**
 * Returns the host of this environment, or at an address. Its token is KEYWAY_ADMIN_TOKEN or the one in the
 * host's data directory. Another program may use the port, so the host must identify itself before the token
 * is sent.
 *
 * @throws ConfigError with instructions
 */
export async function findOperator(
  environment: Readonly<Record<string, string | undefined>>,
  address?: string,
): Promise<OperatorTarget> {
  const config = readConfig({ ...environment, ...UNUSED })
  const url = address === undefined ? addressOf(config) : checked(address)
  const { status, text } = await send(url, { method: 'GET', path: '/info' })
  if (parsed(text)?.['name'] !== 'Keyway')
    throw new ConfigError(
      `${url.origin} answers, but is not Keyway (HTTP ${status}); set HOST and PORT, or --url, to the address of the host`,
    )
  const target = { url, ...(await operatorToken(config)) }
  await requireProof(target)
  return target
}

/**
 * Requires the host to prove that it knows the token before the token is sent: any program can use a port and
 * claim to be Keyway. With https, the certificate has already proved the host's identity.
 */
async function requireProof({ url, token, tokenFrom }: OperatorTarget): Promise<void> {
  if (url.protocol === 'https:') return
  const challenge = { nonce: randomSecret(), address: `${url.hostname}:${url.port || '80'}` }
  const query = new URLSearchParams({ ...challenge, prefix: token.slice(0, PREFIX_LENGTH) })
  const { status, text } = await patiently(() =>
    send(url, { method: 'GET', path: `/operator/proof?${query}` }),
  )
  const answer = parsed(text)
  const proofs = answer?.['proofs']
  if (status === 409) throw new ConfigError(wordsOf(answer) ?? `${url.origin} answered 409`)
  if (status !== 200 || !Array.isArray(proofs))
    throw new ConfigError(
      `${url.origin} does not prove that it knows the token of ${tokenFrom}, so it was not sent: another program uses the port, or an older version of Keyway. Set HOST and PORT, or --url, to the address of the host; upgrade it; or reach it by https`,
    )
  if (!proofs.includes(hostProof(hostProofKey(token), challenge)))
    throw new ConfigError(unknownToken(url, tokenFrom))
}

const unknownToken = (url: URL, tokenFrom: string): string =>
  `${url.origin} does not accept the token of ${tokenFrom}: it is wrong, revoked or replaced; run this with the host’s KEYWAY_ADMIN_TOKEN or KEYWAY_DATA_DIR (a token of an older version can only be sent by https; make a new one)`

/** Returns the message of an error: /operator has it in `error`, the core interface in `detail`. */
function wordsOf(answer: Record<string, unknown> | null): string | undefined {
  const { message } = membersOf(answer?.['error'])
  const detail = answer?.['detail']
  if (typeof message === 'string') return message
  if (typeof detail === 'string') return detail
  if (!Array.isArray(detail)) return undefined
  return detail
    .map(membersOf)
    .map(({ loc, msg }) => `${placeAt([loc].flat())}: ${msg}`)
    .join('; ')
}

/** Repeats a request while the host's database is not available yet. */
async function patiently(ask: () => Promise<Received>): Promise<Received> {
  const endMs = performance.now() + DATABASE_PATIENCE_MS
  let reply = await ask()
  while (reply.status === 503 && performance.now() < endMs) {
    await pause(PAUSE_MS)
    reply = await ask()
  }
  return reply
}

/** Returns the address at which this machine reaches the host with these settings. */
function addressOf({ host, port }: Config): URL {
  if (port === 0)
    throw new ConfigError('PORT is 0, so the port is unknown: give the address with --url')
  const name = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return new URL(`http://${name.includes(':') ? `[${name}]` : name}:${port}`)
}

/** Checks an address. It must have no path, because the interface has fixed paths. */
function checked(address: string): URL {
  const url = URL.parse(address)
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url
  throw new ConfigError(`--url: ${address} is not an address such as https://keyway.example`)
}

async function operatorToken({ adminToken, dataDir }: Config) {
  if (adminToken !== '') return { token: adminToken, tokenFrom: 'KEYWAY_ADMIN_TOKEN' }
  try {
    const { value, file } = await readKeptSecret(dataDir, 'admin-token')
    return { token: value, tokenFrom: file }
  } catch (error) {
    const code = codeOf(error)
    const message = messageOf(error)
    throw new ConfigError(
      `The operator's token cannot be read (${code ?? message}) from ${path.join(dataDir, 'admin-token')}: run this as the host's user and with its KEYWAY_DATA_DIR, or set the host’s KEYWAY_ADMIN_TOKEN. A host of \`keyway dev\` has none unless it is set for both: call it with curl`,
    )
  }
}

/**
 * Calls an endpoint below /operator. Waits for the database of a host that has just started, which takes some
 * seconds.
 *
 * @throws ConfigError with the host's message, or with instructions if no host answers
 */
export async function callOperator<T>(target: OperatorTarget, call: OperatorCall): Promise<T> {
  const { url, token } = target
  const received = await patiently(() => send(url, call, token))
  const answer = parsed(received.text)
  // The cast: the host has validated its response against the schema of the endpoint.
  if (received.status < 300 && answer !== null && answer['is_error'] !== true) return answer as T
  throw refusal(target, call, received)
}

/**
 * Calls an endpoint that responds with a file, and passes it to `save` as a stream.
 *
 * @throws ConfigError as `callOperator`; errors of `save`
 */
export async function downloadOperator(
  target: OperatorTarget,
  call: OperatorCall,
  save: (pieces: Readable) => Promise<void>,
): Promise<void> {
  const received = await patiently(() => send(target.url, call, target.token, save))
  if (received.status !== 200) throw refusal(target, call, received)
}

function refusal(
  { url, tokenFrom }: OperatorTarget,
  call: OperatorCall,
  { status, text }: Received,
): ConfigError {
  if (status === 401) return new ConfigError(unknownToken(url, tokenFrom))
  const answer = parsed(text)
  const raw = membersOf(answer?.['raw_data'])
  const told = wordsOf(answer) ?? `${url.origin} answered ${status}, and not like Keyway`
  return new RefusedError(status === 404 ? notThere(call.path, told) : told, raw)
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

type Received = { status: number; text: string }

/** Sends a request. Follows no redirects: the token is for this host, not for another one. */
function send(
  url: URL,
  call: OperatorCall,
  token?: string,
  save?: (pieces: Readable) => Promise<void>,
): Promise<Received> {
  const { method, path: at, contentType, length, patienceMs = PATIENCE_MS } = call
  const headers: Record<string, string | number> = { ...call.headers }
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`
  if (contentType !== undefined) headers['content-type'] = contentType
  if (length !== undefined) headers['content-length'] = length
  const body = typeof call.body === 'function' ? call.body() : call.body
  const stream = typeof body === 'object' ? body : null
  const options = { method, headers, signal: AbortSignal.timeout(patienceMs) }
  return new Promise<Received>((resolve, reject) => {
    const { request } = url.protocol === 'https:' ? https : http
    const sent = request(new URL(at, url), options, (answer) => {
      // A response may arrive before everything is sent. The rest need not be sent.
      stream?.unpipe(sent)
      if (save && answer.statusCode === 200) {
        save(answer).then(() => resolve({ status: 200, text: '' }), reject)
        return
      }
      textOf(answer).then((text) => {
        resolve({ status: answer.statusCode ?? 0, text })
        sent.destroy()
      }, reject)
    })
    sent.on('error', (error) => reject(unreachable(url, error, patienceMs)))
    if (stream === null) {
      sent.end(body)
      return
    }
    stream.once('error', (error) => {
      reject(error)
      sent.destroy()
    })
    stream.pipe(sent)
  }).finally(() => stream?.destroy())
}

function unreachable(
  url: URL,
  { message, cause, code }: NodeJS.ErrnoException,
  patienceMs: number,
): ConfigError {
  if (code === 'ABORT_ERR')
    return new ConfigError(
      `Keyway at ${url.origin} has not answered within ${patienceMs / 1000} s: the request may have been carried out, or the host is busy. Check its log, and try again`,
    )
  const why = (cause instanceof Error ? cause.message : undefined) ?? code ?? message
  return new ConfigError(
    `No Keyway answers at ${url.origin} (${why}): start it with \`keyway start\`, or say by HOST and PORT, or --url, where it is`,
  )
}
