/** Common parts of the attacks by a directory and by a database. */

/** The server never completes its answer. */
export const STALLS = { promise: 1, ends: ['request_timeout'], deadlineMs: 1500 } as const

const BUSY = { promise: 1, ends: ['answer', 'rate_limit', 'request_timeout'] } as const

/** Many concurrent requests of one call. */
export const AT_ONCE = { ...BUSY, calls: 12, together: 4 } as const

/** Connections of many tenants that are never released. */
export const HELD = { ...BUSY, calls: 20, together: 10, tenants: 10, deadlineMs: 1500 } as const
