/** How many times what is free then one of several may hold. */
const SHARE = 3

/**
 * Whether one of several that share something may hold so much of it while so much is free. Who comes
 * alone gets three quarters, two at once three sevenths each; however many flood, something is left for the
 * next one. (Dynamic thresholds: Choudhury and Hahne, 1998.)
 */
export const isFairShare = (held: number, free: number): boolean => held <= SHARE * free
