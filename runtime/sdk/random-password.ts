/**
 * A password that nobody knows, for systems that want one for a new account: 192 random bits, with a letter of each case, a
 * digit and a mark, which rules of complexity ask for.
 *
 * @example
 * await ctx.ldap.password(dn, randomPassword())
 */
export const randomPassword = (): string =>
  `Aa1-${[...crypto.getRandomValues(new Uint8Array(24))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')}`
