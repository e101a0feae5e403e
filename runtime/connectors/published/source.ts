/**
 * Reads files of a registry from a folder or a web server. Only addresses named by the operator, and mirrors
 * in an index signed by a trusted key, are contacted. No redirects, TLS except on this machine, and bounded
 * sizes.
 */
import { constants, open } from 'node:fs/promises'
import path from 'node:path'
import { MAX_ADDRESS_LENGTH } from '../../contract/endpoints/published-indexes.ts'
import { codeOf, messageOf } from '../../contract/errors/thrown.ts'
import { PackageError } from '../packages/format.ts'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

export type Source = {
  address: string
  /** Reads a file. @throws SourceError */
  read(file: string, maxBytes: number): Promise<Buffer>
  /** Returns a mirror named by an index from here; null for an address that it may not name. */
  mirror(address: string): Source | null
}

/** A file could not be read. The next mirror may have it. */
export class SourceError extends Error {
  override name = 'SourceError'
}

const WEB = /^https?:\/\//i
/** Matches a web address that contains credentials, with or without a scheme. */
const LOGIN = /^([a-z][a-z0-9+.-]*:)?\/{0,2}[^/]*:[^/]*@|^[a-z][a-z0-9+.-]*:\/{0,2}[^/]*@/i

/** Returns the canonical spelling of an address, by which seen indexes are recorded. */
export function spelled(address: string): string {
  const text = WEB.test(address) ? new URL(address).href : path.resolve(address)
  return text.replace(/(?<=[^/])\/+$/, '')
}

/**
 * Maximum time until a web server starts to answer, in milliseconds, unless the caller allows less for the
 * whole file.
 */
const ANSWER_MS = 10_000

/**
 * @param patienceMs maximum time for one file of a web server
 * @param answerMs maximum time until the server starts to answer, so that a silent server is abandoned sooner
 * than a slow one
 * @throws PackageError for an invalid address
 */
export function sourceOf(address: string, patienceMs: number, answerMs = ANSWER_MS): Source {
  if (address === '') throw new PackageError('the address of a registry is empty')
  if (LOGIN.test(address))
    throw new PackageError(
      'the registry is named with a login, or is no address: write https://host/path without one, or the path of a folder, which may begin with ./',
    )
  if (!WEB.test(address)) {
    const [, scheme] =
      /^([a-z][a-z0-9+.-]+):\/\//i.exec(address) ?? /^(https?):/i.exec(address) ?? []
    if (scheme === undefined) return folder(requireShort(address), patienceMs)
    throw new PackageError(
      `what begins with ${scheme}: is no registry: write https://host/path, or the path of a folder`,
    )
  }
  const base = URL.parse(address)
  if (base === null || base.username !== '' || base.password !== '')
    throw new PackageError('the registry is no address: write https://host/path, without a login')
  if (base.search !== '' || base.hash !== '')
    throw new PackageError(
      `${base.origin}${base.pathname}: files of a registry stand behind its path; leave out what begins with ? or #`,
    )
  if (base.protocol === 'http:' && !LOOPBACK.test(base.hostname))
    throw new PackageError(
      `${base.origin} is without TLS: a registry is named by https:// or a folder`,
    )
  requireShort(address)
  return {
    address,
    read: (file, maxBytes) => fetched(base, file, { maxBytes, patienceMs, answerMs }),
    mirror: (other) => mirrorOf(other, base.protocol === 'http:', patienceMs),
  }
}

/** @throws PackageError for an address that is too long to be recorded */
function requireShort(address: string): string {
  if (spelled(address).length <= MAX_ADDRESS_LENGTH) return address
  throw new PackageError(
    `the address of a registry, as it is written in full, has ${MAX_ADDRESS_LENGTH} characters at most`,
  )
}

/**
 * Returns a mirror. It is never a folder of this machine, and has no TLS only if the registry that names it
 * has none, which is then on this machine.
 */
function mirrorOf(address: string, plain: boolean, patienceMs: number): Source | null {
  if (!/^https:\/\//i.test(address) && !(plain && /^http:\/\//i.test(address))) return null
  try {
    return sourceOf(address, patienceMs)
  } catch (error) {
    if (error instanceof PackageError) return null
    throw error
  }
}

const folder = (directory: string, patienceMs: number): Source => ({
  address: directory,
  mirror: (other) => mirrorOf(other, false, patienceMs),
  async read(file, maxBytes) {
    const name = path.join(directory, file)
    try {
      return await readRegular(name, maxBytes)
    } catch (error) {
      if (error instanceof SourceError) throw error
      const isGone = codeOf(error) === 'ENOENT'
      throw new SourceError(
        isGone
          ? `${file} cannot be read: there is none`
          : `${name} cannot be read: ${messageOf(error)}`,
      )
    }
  },
})

/**
 * Reads a regular file. A pipe might never answer, and a device never end.
 *
 * @throws SourceError
 */
export async function readRegular(name: string, maxBytes: number): Promise<Buffer> {
  await using handle = await open(name, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  const found = await handle.stat()
  if (!found.isFile()) throw new SourceError(`${name} is no file`)
  if (found.size > maxBytes) throw tooLarge(name, maxBytes)
  // One byte more than its size: it may have grown, or not report its size.
  const room = Buffer.alloc(found.size + 1)
  let size = 0
  for (;;) {
    const { bytesRead } = await handle.read(room, size, room.length - size)
    size += bytesRead
    if (size === room.length) throw new SourceError(`${name} was changed while it was read`)
    if (bytesRead === 0) return room.subarray(0, size)
  }
}

const tooLarge = (name: string, maxBytes: number) =>
  new SourceError(`${name} has more than ${maxBytes} bytes`)

async function fetched(
  base: URL,
  file: string,
  { maxBytes, patienceMs, answerMs }: { maxBytes: number; patienceMs: number; answerMs: number },
): Promise<Buffer> {
  const url = new URL(file, base.href.endsWith('/') ? base : `${base.href}/`)
  const silent = new AbortController()
  const timer = setTimeout(() => {
    silent.abort(new SourceError(`${url} has not begun to answer within ${answerMs / 1000} s`))
  }, answerMs)
  const signal = AbortSignal.any([silent.signal, AbortSignal.timeout(patienceMs)])
  try {
    const reply = await fetch(url, { redirect: 'manual', signal })
    // The body may take the rest of the total time.
    clearTimeout(timer)
    if (!reply.ok || reply.body === null) {
      await reply.body?.cancel()
      const to = URL.parse(reply.headers.get('location') ?? '', url)
      if (reply.status >= 300 && reply.status < 400 && to !== null)
        throw new SourceError(
          `${url} leads to ${to.origin}${to.pathname}: redirects are not followed, name the address itself`,
        )
      throw new SourceError(`${url} answers ${reply.status}`)
    }
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of reply.body) {
      size += chunk.length
      if (size > maxBytes) throw tooLarge(String(url), maxBytes)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  } catch (error) {
    if (error instanceof SourceError) throw error
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw new SourceError(`${url} cannot be read: ${messageOf(cause)}`)
  } finally {
    clearTimeout(timer)
  }
}
