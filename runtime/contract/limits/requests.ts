/**
 * What the requests of one call of a connector may have. The sandbox, its worker, the lane and egress hold it, each in its
 * own terms: code that broke out of one meets the next.
 */
export const REQUEST_LIMITS = {
  /** Requests that are open at once. */
  open: 64,
  /** Requests in all, one after the other included. */
  inAll: 2000,
  /** Body of one, in bytes. */
  bodyBytes: 16 * 1024 * 1024,
} as const
