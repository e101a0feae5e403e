/**
 * Writes the common envelope around a reply where it lies. A message's header and head stand before its body and have
 * been read: moving the body into their place makes room on both sides, and no reply is allocated a second time.
 */

/** Envelope before and after a response without raw data and without a next page. */
const OPENING: Buffer = Buffer.from('{"response":')
const CLOSING: Buffer = Buffer.from(',"raw_data":null,"page":null}')
const ROOM_BYTES = OPENING.length + CLOSING.length

/**
 * The envelope around a response; null if there is no room for it. The response itself has moved then.
 *
 * @param response the complete response, in memory that nothing else reads
 * @param roomBytes how many bytes before it may be overwritten
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
