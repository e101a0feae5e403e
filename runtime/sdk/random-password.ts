/**
 * Returns a random password, for systems that require one for a new account: 192 random bits, with upper-case
 * and lower-case letters, a digit and a punctuation mark, as password policies require.
 *
 * @example
 * await ctx.ldap.password(dn, randomPassword())
 */
export const randomPassword = (): string =>
  `Aa1-${[...crypto.getRandomValues(new Uint8Array(24))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')}`
