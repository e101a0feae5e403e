/**
 * Ids of the accounts that a run has created, so that their associations need no lookup. A lookup takes two
 * fifths of the database time of an association. No row of an account is deleted while its app exists, so
 * such an id stays valid. Accounts that do not fit are looked up, and so are all accounts once a run
 * continues in another turn.
 *
 * It is a custom hash table. Node's Map first adds each text to V8's string table, which takes longer than
 * the lookup. Each lookup here checks at most `LOOKED_AT` slots, so that no choice of ids makes it slow.
 */
import { randomInt } from 'node:crypto'
import { UUID_BYTES } from './storable-texts.ts'

/** Maximum number of accounts, and of characters in all of their ids in the system. */
const MAX_ACCOUNTS = 200_000
const MAX_CHARACTERS = 16_000_000
/** Number of slots, a power of two, and number of slots probed per text. */
const SLOTS = 2 ** 19
const LOOKED_AT = 8
/** Maximum size of a buffer that is kept for the next batch: few pages are as large as a reply may be. */
const MAX_KEPT_BYTES = 8_000_000

export type KnownAccounts = {
  /** Adds written accounts: their ids, of `UUID_BYTES` each, by their ids in the system. */
  add(ids: Uint8Array, externals: readonly string[]): void
  /** Returns the place of an account, counted from 0, or undefined if it is not known. */
  placeOf(external: string): number | undefined
  /** Returns the account's id in its system. */
  textAt(place: number): string | undefined
  /** Returns the ids of all known accounts, of `UUID_BYTES` each. */
  ids(): Uint8Array
  /** Returns the number of known accounts. */
  size(): number
  /**
   * Runs `work` with a buffer of at least `bytes`. Later batches reuse it: new buffers would stay garbage for
   * a long time.
   */
  withRoom<T>(bytes: number, work: (room: Buffer) => Promise<T>): Promise<T>
  forget(): void
}

/** Creates an empty table of known accounts. */
export function createKnownAccounts(): KnownAccounts {
  const seed = randomInt(2 ** 32)
  let texts: string[] = []
  let characters = 0
  /**
   * Places of accounts, counted from 1; 0 is free. Allocated for the first account: most syncs create none.
   */
  let slots = new Int32Array(0)
  let ids = new Uint8Array(0)
  /** Buffers for the batches being written, at most two. */
  let rooms: Buffer[] = []

  /**
   * Returns the slot of a text, or the free slot for it. Returns undefined if other texts hold all probed
   * slots.
   */
  function slotOf(text: string): number | undefined {
    const first = hashOf(text, seed)
    for (let n = 0; n < LOOKED_AT; n += 1) {
      const slot = (first + n) & (SLOTS - 1)
      const place = slots[slot] ?? 0
      if (place === 0 || texts[place - 1] === text) return slot
    }
    return undefined
  }

  /** Adds one account. `from` is the offset of its id in `added`. */
  function addOne(added: Uint8Array, from: number, external: string): void {
    if (texts.length >= MAX_ACCOUNTS || characters + external.length > MAX_CHARACTERS) return
    const slot = slotOf(external)
    if (slot === undefined || slots[slot] !== 0) return
    characters += external.length
    const at = texts.length * UUID_BYTES
    for (let k = 0; k < UUID_BYTES; k += 1) ids[at + k] = added[from + k] ?? 0
    slots[slot] = texts.push(external)
  }

  return {
    add(added, externals) {
      if (slots.length === 0) {
        slots = new Int32Array(SLOTS)
        ids = new Uint8Array(MAX_ACCOUNTS * UUID_BYTES)
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
        if (room.length <= MAX_KEPT_BYTES) rooms.push(room)
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

/** Hashes a text with a seed (Fowler, Noll and Vo, FNV-1a). */
function hashOf(text: string, seed: number): number {
  let hash = seed
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash ^ (hash >>> 15)
}
