import { REQUEST_LIMITS } from '../../contract/limits/requests.ts'

/** Limits on what one isolate may ask of the host. Sizes are in characters (UTF-16 units) of text. */
export const LIMITS = {
  /** JSON text of one reply: payload, cursor and raw value together. */
  replyChars: 32 * 1024 * 1024,
  /** Message of a thrown error. */
  messageChars: 4000,
  /** Frames of a thrown error's stack. */
  stackChars: 4000,
  /** Codes and names of a thrown error. */
  nameChars: 200,
  /** Open fetches of one call, and all its fetches. */
  openFetches: REQUEST_LIMITS.open,
  fetches: REQUEST_LIMITS.inAll,
  /** Value of one header. */
  headerChars: 64 * 1024,
  /** Body of a request, in bytes. */
  bodyBytes: REQUEST_LIMITS.bodyBytes,
  /** Open timers of the isolate. */
  openTimers: 1000,
  /** Log lines of one call, and the text of one line. */
  logLines: 200,
  logChars: 8 * 1024,
  /**
   * Posts, and their text, between two entries of the host. A flood of posts accumulates in the host's
   * memory, because the host reads them only when the isolate's task has ended.
   */
  turnPosts: 4096,
  turnChars: 32 * 1024 * 1024,
} as const
