/** Replaced by the `parameter` of each attack. */
export const SLICE_MS = 3
