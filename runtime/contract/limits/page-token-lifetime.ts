/** Lifetime of a page token, in milliseconds. Each page renews it. */
export const PAGE_TOKEN_LIFETIME_MS: number = 24 * 3_600_000
