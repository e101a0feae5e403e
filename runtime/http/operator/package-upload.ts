/** Uploads of packages over HTTP, from the command and from the console. */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Context } from 'hono'
import type { UploadedPackage } from '../../connectors/lifecycle/packages.ts'
import { PackageError } from '../../connectors/packages/format.ts'
import { readPackage } from '../../connectors/packages/read.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { streamBody } from '../edge/body.ts'
import type { Env } from '../edge/env.ts'

/** Longest signature file, in bytes. */
export const MAX_SIGNATURE_BYTES = 2000

/**
 * Reads a body by way of the disk, because many slow uploads must not be held in memory.
 *
 * @throws RuntimeError `body_too_large`, `caller_gone`
 */
export async function bytesByDisk(
  c: Context<Env>,
  dataDir: string,
  maxBytes: number,
): Promise<Buffer> {
  const folder = path.join(dataDir, 'run', 'uploads')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = path.join(folder, `${randomUUID()}.tgz`)
  try {
    await pipeline(streamBody(c, maxBytes), createWriteStream(file, { mode: 0o600 }))
    return await readFile(file)
  } finally {
    await rm(file, { force: true })
  }
}

/** Reads a package. @throws RuntimeError `input_invalid` if the bytes are no package */
export async function uploadedOf(
  packed: Buffer,
  signature: string | null,
): Promise<UploadedPackage> {
  try {
    return { package: await readPackage(packed), packed, signature }
  } catch (error) {
    if (!(error instanceof PackageError)) throw error
    throw new RuntimeError('input_invalid', `The package was not installed: ${error.message}`)
  }
}
