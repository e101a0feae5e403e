/**
 * Joins buffers without blocking the main thread. Copying 16 MiB mostly allocates memory and takes up to 90
 * ms.
 */
import { inSlices, type Steps } from './slices.ts'

/** Bytes copied in one step. */
const PORTION_BYTES = 256 * 1024

/**
 * Joins buffers. Small ones are joined immediately, without a turn of the event loop.
 *
 * @param totalBytes total length of the buffers
 */
export const joinPieces = (
  pieces: readonly Uint8Array[],
  totalBytes: number,
): Promise<Buffer> | Buffer =>
  totalBytes <= PORTION_BYTES
    ? Buffer.concat(pieces, totalBytes)
    : inSlices(joining(pieces, totalBytes))

function* joining(pieces: readonly Uint8Array[], totalBytes: number): Steps<Buffer> {
  const joined = Buffer.allocUnsafe(totalBytes)
  let at = 0
  let copied = 0
  for (const piece of pieces)
    for (let from = 0; from < piece.length; from += PORTION_BYTES) {
      const portion = piece.subarray(from, from + PORTION_BYTES)
      joined.set(portion, at)
      at += portion.length
      copied += portion.length
      if (copied < PORTION_BYTES) continue
      copied = 0
      yield
    }
  return joined
}
