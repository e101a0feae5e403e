/** Maximum share of one holder, as a multiple of the free rest. */
const SHARE = 3

/**
 * Reports whether one of several holders may hold this much of a shared resource while this much is free. A
 * single holder gets three quarters, two get three sevenths each. However many flood, some room is left for
 * the next one. (Dynamic thresholds: Choudhury and Hahne, 1998.)
 */
export const isFairShare = (held: number, free: number): boolean => held <= SHARE * free
