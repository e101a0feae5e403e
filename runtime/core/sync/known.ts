/**
 * Ids of the accounts that a run has made, so that their associations need not look them up, which is two fifths of what
 * an association takes the database. No row of an account is deleted while its app is there: such an id stays right. What
 * does not fit is looked up, and so is everything once a run is gone on with in another turn.
 *
 * It is a hash table of its own. Node's Map first adds each text to V8's table of all texts, which takes longer than the
 * look-up. Each look-up here checks `LOOKED_AT` slots at most, so that no choice of ids makes it slow.
 */
import { randomInt } from 'node:crypto'
import { UUID_BYTES } from './kept.ts'

/** Most accounts, and most characters of their ids in their system. */
const MOST_ACCOUNTS = 200_000
const MOST_CHARACTERS = 16_000_000
/** Places of texts, a power of two, and how many of them are looked at for one. */
const SLOTS = 2 ** 19
const LOOKED_AT = 8
/** Longest buffer that is kept for the next batch: few pages are as large as a reply may be. */
const MOST_KEPT_BYTES = 8_000_000

export type KnownAccounts = {
  /** Keeps ids of accounts that are written, of `UUID_BYTES` each, by those in their system. */
  add(ids: Uint8Array, externals: readonly string[]): void
  /** Which of them an account is, counted from 0; undefined where it is not known. */
  placeOf(external: string): number | undefined
  /** The account's id in its system. */
  textAt(place: number): string | undefined
  /** Their ids, of `UUID_BYTES` each. */
  ids(): Uint8Array
  /** How many there are. */
  size(): number
  /** Runs `work` with a buffer of so many bytes at least. Later batches reuse it: new ones stay garbage for a long time. */
  withRoom<T>(bytes: number, work: (room: Buffer) => Promise<T>): Promise<T>
  forget(): void
}

export function createKnownAccounts(): KnownAccounts {
  const seed = randomInt(2 ** 32)
  let texts: string[] = []
  let characters = 0
  /** Places of accounts, counted from 1; 0 is free. Made when the first comes: most syncs have none. */
  let slots = new Int32Array(0)
  let ids = new Uint8Array(0)
  /** Of batches that are written: two at most are under way. */
  let rooms: Buffer[] = []

  /** The slot of a text, or the one that it may have; undefined where all that are looked at are others'. */
  function slotOf(text: string): number | undefined {
    const first = hashOf(text, seed)
    for (let n = 0; n < LOOKED_AT; n += 1) {
      const slot = (first + n) & (SLOTS - 1)
      const place = slots[slot] ?? 0
      if (place === 0 || texts[place - 1] === text) return slot
    }
    return undefined
  }

  /** `from`: where its id begins in those that are `added`. */
  function addOne(added: Uint8Array, from: number, external: string): void {
    characters += external.length
    if (texts.length >= MOST_ACCOUNTS || characters > MOST_CHARACTERS) return
    const slot = slotOf(external)
    if (slot === undefined || slots[slot] !== 0) return
    const at = texts.length * UUID_BYTES
    for (let k = 0; k < UUID_BYTES; k += 1) ids[at + k] = added[from + k] ?? 0
    slots[slot] = texts.push(external)
  }

  return {
    add(added, externals) {
      if (slots.length === 0) {
        slots = new Int32Array(SLOTS)
        ids = new Uint8Array(MOST_ACCOUNTS * UUID_BYTES)
      }
      for (let n = 0; n < externals.length; n += 1)
        addOne(added, n * UUID_BYTES, externals[n] ?? '')
    },
    placeOf(external) {
      if (texts.length === 0) return undefined
      const slot = slotOf(external)
      const place = slot === undefined ? 0 : (slots[slot] ?? 0)
      return place === 0 ? undefined : place - 1
    },
    textAt: (place) => texts[place],
    ids: () => ids,
    size: () => texts.length,
    async withRoom(bytes, work) {
      const free = rooms.pop()
      const room = free && free.length >= bytes ? free : Buffer.allocUnsafeSlow(bytes)
      try {
        return await work(room)
      } finally {
        if (room.length <= MOST_KEPT_BYTES) rooms.push(room)
      }
    },
    forget() {
      texts = []
      characters = 0
      slots = new Int32Array(0)
      ids = new Uint8Array(0)
      rooms = []
    },
  }
}

/** A number made of a text, other ones for each seed (Fowler, Noll and Vo, FNV-1a). */
function hashOf(text: string, seed: number): number {
  let hash = seed
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash ^ (hash >>> 15)
}
