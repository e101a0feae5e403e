/** Reads the box of an entry: see guest/outbox.ts. The guest may have got at the prelude's parts. */

/** One message of a guest: an answer of a call by its id, or something that it asks for. */
type BoxMessage = (op: string, id: number, one: string, two: string, three: string) => void

/** Places of one message. */
const PLACES = 5

/**
 * Hands each message of a box over, in order.
 *
 * @throws Error when it is no box of the prelude's
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

/** The characters of a box's texts. */
export function boxChars(box: unknown): number {
  let chars = 0
  if (Array.isArray(box)) for (const part of box) if (typeof part === 'string') chars += part.length
  return chars
}
