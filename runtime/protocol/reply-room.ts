/**
 * Writes the common envelope around a reply in place. A message's header and head precede its body and have
 * been read. Moving the body into their place makes room on both sides, and no reply is allocated twice.
 */

/** Envelope before and after a response without raw data and without a next page. */
const OPENING: Buffer = Buffer.from('{"response":')
const CLOSING: Buffer = Buffer.from(',"raw_data":null,"page":null}')
const ROOM_BYTES = OPENING.length + CLOSING.length

/**
 * Returns the response in its envelope, or null if there is not enough room. Moves the response within its
 * memory.
 *
 * @param response the complete response, in memory that no other code reads
 * @param roomBytes number of bytes before it that may be overwritten
 */
export function closeInPlace(response: Buffer, roomBytes: number): Buffer | null {
  if (roomBytes < ROOM_BYTES) return null
  const { buffer, byteOffset, length } = response
  const whole = Buffer.from(buffer, byteOffset - ROOM_BYTES, ROOM_BYTES + length)
  whole.copyWithin(OPENING.length, ROOM_BYTES)
  OPENING.copy(whole, 0)
  CLOSING.copy(whole, OPENING.length + length)
  return whole
}
