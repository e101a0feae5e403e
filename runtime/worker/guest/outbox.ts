/**
 * The result of an entry: its messages to the host and the answers of calls, in order. The worker copies this
 * box out when the microtasks of the entry have run. If plugin code leaves a rejection unhandled, isolated-vm
 * returns the rejection instead of the box. The worker then collects the box by the number of the entry.
 *
 * A box has no prototype and holds only strings and numbers, so that filling or copying it runs no plugin
 * code.
 */
import { mapDelete, mapGet, mapSet, SafeMap, setPrototypeOf } from './primordials.ts'

/** Five elements for each message: the operation, an id and three texts. */
export type Box = unknown[]

const kept = new SafeMap<number, Box>()
let first = 1
// Top-level code of the connector runs outside of entries. Its messages are sent at once.
let current: Box | null = null

/**
 * Opens the box of an entry. Drops the boxes of all entries before `oldest`, which the worker has received.
 */
export function openBox(entry: number, oldest: number): Box {
  dropBoxes(oldest)
  const box = emptyBox()
  current = box
  mapSet(kept, entry, box)
  return box
}

/** Drops the boxes of all entries before this one. */
export function dropBoxes(before: number): void {
  while (first < before) {
    mapDelete(kept, first)
    first += 1
  }
}

/** Returns the box of an entry that the worker has not received. */
export function keptBox(entry: number): Box {
  return mapGet(kept, entry) ?? emptyBox()
}

/** Puts a message into the box of the running entry. Returns false if no entry is running. */
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

const emptyBox = (): Box => setPrototypeOf([], null)
