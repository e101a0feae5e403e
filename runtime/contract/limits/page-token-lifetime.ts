/** How long a page token is good, in milliseconds; each page renews it. */
export const PAGE_TOKEN_LIFETIME_MS: number = 24 * 3_600_000
