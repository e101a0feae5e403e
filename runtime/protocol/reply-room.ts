/**
 * Stores replies of workers: each is copied once from the pipe's buffer, with room around it for the common envelope.
 * Small replies share slabs, because allocating a buffer for each costs more than the copy.
 */

/** Envelope before and after a response without raw data and without a next page. */
const OPENING: Buffer = Buffer.from('{"response":')
const CLOSING: Buffer = Buffer.from(',"raw_data":null,"page":null}')
const ROOM_BYTES = OPENING.length + CLOSING.length

/** Slab size, in bytes. An answer that is not read by its caller retains its slab. */
const SLAB_BYTES = 256 * 1024
/** Replies from this size get their own buffer, in bytes. */
const OWN_BYTES = 64 * 1024

/** Memory that holds replies with room; other buffers must not be written to. */
const homes = new WeakSet<ArrayBufferLike>()

let slab: Buffer = newHome(SLAB_BYTES)
let used = 0

function newHome(bytes: number): Buffer {
  const made = Buffer.allocUnsafeSlow(bytes)
  homes.add(made.buffer)
  return made
}

/** Copies a reply, with room around it for `closeInRoom`. */
export function withRoom(reply: Buffer): Buffer {
  const bytes = ROOM_BYTES + reply.length
  const isOwn = bytes >= OWN_BYTES
  if (!isOwn && used + bytes > SLAB_BYTES) {
    slab = newHome(SLAB_BYTES)
    used = 0
  }
  const home = isOwn ? newHome(bytes) : slab
  const start = (isOwn ? 0 : used) + OPENING.length
  if (!isOwn) used += bytes
  reply.copy(home, start)
  return home.subarray(start, start + reply.length)
}

/**
 * Writes the common envelope into the room around a response; null if it has no room.
 *
 * @param response the complete result of `withRoom`; pass it only once, because its room is then used
 */
export function closeInRoom(response: Buffer): Buffer | null {
  if (!homes.has(response.buffer)) return null
  const start = response.byteOffset - OPENING.length
  const whole = Buffer.from(response.buffer, start, ROOM_BYTES + response.length)
  OPENING.copy(whole, 0)
  CLOSING.copy(whole, OPENING.length + response.length)
  return whole
}
