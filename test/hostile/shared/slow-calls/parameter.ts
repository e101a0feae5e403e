/** Replaced by the `parameter` of each attack. */
export const isSlow = (call: number) => call > 60
