/** Reads the box of an entry (guest/outbox.ts). A guest may have tampered with the prelude's parts. */

/** Receives one message of a guest: the answer of the call `id`, or a request. */
type BoxMessage = (op: string, id: number, one: string, two: string, three: string) => void

/** Number of elements of one message. */
const PLACES = 5

/**
 * Passes each message of a box to `hear`, in order.
 *
 * @throws Error if the box is not one of the prelude
 */
export function readBox(box: unknown, hear: BoxMessage): void {
  if (!Array.isArray(box) || box.length % PLACES !== 0) throw noBox()
  for (let at = 0; at < box.length; at += PLACES) {
    const [op, id, one, two, three] = box.slice(at, at + PLACES)
    if (typeof op !== 'string' || typeof id !== 'number') throw noBox()
    if (typeof one !== 'string' || typeof two !== 'string' || typeof three !== 'string')
      throw noBox()
    hear(op, id, one, two, three)
  }
}

const noBox = () => new Error('the sandbox gave no proper reply')

/** Returns the total number of characters in a box's texts. */
export function boxChars(box: unknown): number {
  let chars = 0
  if (Array.isArray(box)) for (const part of box) if (typeof part === 'string') chars += part.length
  return chars
}
