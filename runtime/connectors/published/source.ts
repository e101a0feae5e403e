/**
 * Files of a registry, from a folder or a web server. Nothing is reached but the addresses that the operator named, and
 * the mirrors of an index that a trusted key has signed: no redirects, TLS unless it is this machine, and no more bytes than are waited for.
 */
import { open } from 'node:fs/promises'
import path from 'node:path'
import { messageOf } from '../../contract/errors/thrown.ts'
import { PackageError } from '../packages/format.ts'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

export type Source = {
  address: string
  /** @throws SourceError */
  read(file: string, maxBytes: number): Promise<Buffer>
  /** A mirror that an index from here names; null for an address that it may not name. */
  mirror(address: string): Source | null
}

/** A file that could not be had; the next mirror may have it. */
export class SourceError extends Error {
  override name = 'SourceError'
}

/**
 * @param patienceMs Longest time of one file of a web server.
 * @throws PackageError for an address that is none
 */
export function sourceOf(address: string, patienceMs: number): Source {
  if (!/^https?:\/\//i.test(address)) return folder(address, patienceMs)
  const base = URL.canParse(address) ? new URL(address) : null
  if (base === null || base.username !== '' || base.password !== '')
    throw new PackageError(`the registry is no address: write https://host/path, without a login`)
  if (base.protocol === 'http:' && !LOOPBACK.test(base.hostname))
    throw new PackageError(
      `${base.origin} is without TLS: a registry is named by https:// or a folder`,
    )
  return {
    address,
    read: (file, maxBytes) => fetched(base, file, { maxBytes, patienceMs }),
    mirror: (other) => mirrorOf(other, base.protocol === 'http:', patienceMs),
  }
}

/**
 * Another address of the same files: never a folder of this machine, and without TLS only where the registry that names
 * it is so, too, which is on this machine.
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
      await using handle = await open(name)
      const { size } = await handle.stat()
      if (size > maxBytes) throw tooLarge(name, maxBytes)
      return await handle.readFile()
    } catch (error) {
      throw error instanceof SourceError
        ? error
        : new SourceError(`${name} cannot be read: ${messageOf(error)}`)
    }
  },
})

const tooLarge = (name: string, maxBytes: number) =>
  new SourceError(`${name} has more than ${maxBytes} bytes`)

async function fetched(
  base: URL,
  file: string,
  { maxBytes, patienceMs }: { maxBytes: number; patienceMs: number },
): Promise<Buffer> {
  const url = new URL(file, base.href.endsWith('/') ? base : `${base.href}/`)
  try {
    const reply = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(patienceMs) })
    if (!reply.ok || reply.body === null) {
      await reply.body?.cancel()
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
  }
}
