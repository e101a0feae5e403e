/**
 * Limits on the requests of one connector call. The sandbox, its worker, the lane and egress each enforce
 * them on their own, so code that breaks out of one meets the next.
 */
export const REQUEST_LIMITS = {
  /** Requests open at once. */
  open: 64,
  /** Requests in total, sequential ones included. */
  inAll: 2000,
  /** Body of one request, in bytes. */
  bodyBytes: 16 * 1024 * 1024,
} as const
