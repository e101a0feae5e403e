/**
 * Replies of workers as the host keeps them: copied once off the pipe's buffer, with room around them for the usual
 * envelope. Small ones lie in slabs: a buffer of its own for each costs more than to copy it.
 */

/** What stands before and behind a response that has no raw data and no further page. */
const OPENING: Buffer = Buffer.from('{"response":')
const CLOSING: Buffer = Buffer.from(',"raw_data":null,"page":null}')
const ROOM_BYTES = OPENING.length + CLOSING.length

/** A caller that does not take its answer keeps the slab that it lies in. */
const SLAB_BYTES = 256 * 1024
/** Replies from this size on, in bytes, have a buffer of their own. */
const OWN_BYTES = 64 * 1024

/** The memory of replies with room: no other buffer may be written around. */
const homes = new WeakSet<ArrayBufferLike>()

let slab: Buffer = newHome(SLAB_BYTES)
let used = 0

function newHome(bytes: number): Buffer {
  const made = Buffer.allocUnsafeSlow(bytes)
  homes.add(made.buffer)
  return made
}

/** A copy of a reply that may be kept, with room around it. */
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
 * The usual envelope around a response, in the room around it; null where it has none.
 *
 * @param response the whole of what `withRoom` gave, once: its room is taken then
 */
export function closeInRoom(response: Buffer): Buffer | null {
  if (!homes.has(response.buffer)) return null
  const start = response.byteOffset - OPENING.length
  const whole = Buffer.from(response.buffer, start, ROOM_BYTES + response.length)
  OPENING.copy(whole, 0)
  CLOSING.copy(whole, OPENING.length + response.length)
  return whole
}
