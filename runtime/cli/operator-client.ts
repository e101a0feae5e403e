/** Talks to the running host as its operator: commands that need the record do not open the database themselves. */
import { readFile } from 'node:fs/promises'
import http from 'node:http'
import https from 'node:https'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { readConfig } from '../config.ts'

/** What a person is told in words; the command ends with 1. */
export class OperatorError extends Error {}

/** A host and the token to operate it with. */
export type OperatorTarget = {
  url: URL
  token: string
  /** Where the token is from, for whoever has to look there. */
  tokenFrom: string
}

export type OperatorCall = {
  method: 'GET' | 'POST'
  /** With its query. */
  path: string
  contentType?: string
  body?: string | Readable
  /** Length of the body in bytes, where it is known. */
  length?: number
}

/**
 * The host of this environment, or of an address; its token is KEYWAY_ADMIN_TOKEN or the one that the
 * host keeps in its data directory.
 *
 * @throws OperatorError
 */
export async function findOperator(url?: string): Promise<OperatorTarget> {
  const config = readConfig(process.env)
  const target = addressOf(url ?? `http://${reachable(config.host)}:${config.port}`)
  if (config.adminToken !== '')
    return { url: target, token: config.adminToken, tokenFrom: 'KEYWAY_ADMIN_TOKEN' }
  const file = path.join(config.dataDir, 'admin-token')
  try {
    return { url: target, token: (await readFile(file, 'utf8')).trim(), tokenFrom: file }
  } catch (error) {
    throw new OperatorError(
      `the operator's token cannot be read from ${file} (${(error as Error).message}); set KEYWAY_ADMIN_TOKEN, or KEYWAY_DATA_DIR to the data directory of the host`,
    )
  }
}

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url && /^https?:$/.test(url.protocol)) return url
  throw new OperatorError(`--url: ${text} is no address such as http://127.0.0.1:8080`)
}

/** A host that listens on every address is reached on loopback. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host.includes(':') ? `[${host === '::' ? '::1' : host}]` : host
}

/**
 * Calls something below /operator.
 *
 * @throws OperatorError with what the host says, or with what to do when none answers.
 */
export async function callOperator(target: OperatorTarget, call: OperatorCall): Promise<unknown> {
  const { status, text } = await send(target, call)
  const answer = parsed(text)
  if (status < 300 && answer !== null && answer['is_error'] !== true) return answer
  const message = (answer?.['error'] as { message?: string } | undefined)?.message
  if (status === 401)
    throw new OperatorError(
      `${target.url.origin} does not take the token of ${target.tokenFrom}; is it the one of this host?`,
    )
  throw new OperatorError(message ?? `${target.url.origin} answered ${status}; is it Keyway?`)
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

type Received = { status: number; text: string }

function send({ url, token }: OperatorTarget, call: OperatorCall): Promise<Received> {
  const { method, path: at, contentType, body, length } = call
  const headers: Record<string, string | number> = { authorization: `Bearer ${token}` }
  if (contentType !== undefined) headers['content-type'] = contentType
  if (length !== undefined) headers['content-length'] = length
  return new Promise((resolve, reject) => {
    const { request } = url.protocol === 'https:' ? https : http
    const sent = request(new URL(at, url), { method, headers }, (answer) => {
      // An answer may come before all is sent: the rest need not be.
      if (typeof body === 'object') body.unpipe(sent)
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () => {
        resolve({ status: answer.statusCode ?? 0, text: String(Buffer.concat(chunks)) })
        sent.destroy()
      })
    })
    sent.on('error', (error) => reject(unreachable(url, error)))
    if (typeof body !== 'object') {
      sent.end(body)
      return
    }
    body.once('error', (error) => {
      reject(error)
      sent.destroy()
    })
    body.pipe(sent)
  })
}

function unreachable(url: URL, { message }: Error): OperatorError {
  return new OperatorError(
    `no Keyway answers at ${url.origin} (${message}); start it with \`keyway start\`, or say where it is with --url`,
  )
}
