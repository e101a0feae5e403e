/** A separate in-memory disk for a folder, which can be filled to the last byte. Requires Linux and root. */
import { execFile } from 'node:child_process'
import { mkdir, open, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Size of the disk, in bytes. */
const SIZE = 512 * 1024 * 1024
const CHUNKS = [8 * 1024 * 1024, 4096, 1]

export type SmallDisk = {
  /** Fills the disk; the returned function frees the space again. */
  fill(): Promise<() => Promise<void>>
  remove(): Promise<void>
}

/** Mounts the disk; null if mounting is not allowed. */
export async function mountSmallDisk(folder: string): Promise<SmallDisk | null> {
  await mkdir(folder, { recursive: true, mode: 0o711 })
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=711`, 'keyway-faults', folder])
  } catch {
    // Not root, or in a container without the permission.
    return null
  }
  const filler = path.join(folder, 'filler')
  return {
    async fill() {
      const file = await open(filler, 'w')
      try {
        for (const size of CHUNKS) await writeUntilFull(file, Buffer.alloc(size))
      } finally {
        await file.close()
      }
      return () => rm(filler, { force: true })
    },
    async remove() {
      await run('umount', ['--lazy', folder])
    },
  }
}

async function writeUntilFull(file: Awaited<ReturnType<typeof open>>, chunk: Buffer) {
  for (;;) {
    try {
      const { bytesWritten } = await file.write(chunk)
      if (bytesWritten < chunk.length) return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return
      throw error
    }
  }
}
