/**
 * What an entry of the worker brings about: messages to the host and answers of calls, in their order.
 * The worker copies the box out when the microtasks of the entry have run. A rejection that plugin code
 * leaves unhandled takes the place of the box; the worker then collects it by the number of the entry.
 *
 * A box has no prototype and holds strings and numbers alone, so nothing of the plugin runs when it is
 * filled or copied.
 */
import { mapDelete, mapGet, mapSet, SafeMap, setPrototypeOf } from './primordials.ts'

/** Five places for each message: the operation, an id and three texts. */
export type Box = unknown[]

const kept = new SafeMap<number, Box>()
let first = 1
// Top-level code of the connector runs outside of any entry: its messages leave at once.
let current: Box | null = null

/** Begins the box of an entry. The worker has those of all entries before `oldest`: they go. */
export function openBox(entry: number, oldest: number): Box {
  dropBoxes(oldest)
  const box = emptyBox()
  current = box
  mapSet(kept, entry, box)
  return box
}

/** Lets go of the boxes of all entries before this one. */
export function dropBoxes(before: number): void {
  while (first < before) {
    mapDelete(kept, first)
    first += 1
  }
}

/** The box of an entry that the worker does not have yet. */
export function keptBox(entry: number): Box {
  return mapGet(kept, entry) ?? emptyBox()
}

/** Puts a message into the box of the running entry; false outside of any. */
export function putMessage(
  op: string,
  id: number,
  one: string,
  two: string,
  three: string,
): boolean {
  const box = current
  if (box === null) return false
  const at = box.length
  box[at] = op
  box[at + 1] = id
  box[at + 2] = one
  box[at + 3] = two
  box[at + 4] = three
  return true
}

const emptyBox = (): Box => setPrototypeOf([], null) as Box
