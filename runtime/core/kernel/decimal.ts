/** Decimal numbers as PostgreSQL returns them: as text, so that no amount of money is rounded. */

/** Returns a decimal number without trailing zeros, but with at least two digits after the point. */
export const shortened = (decimal: string): string => {
  const [whole = '0', fraction = ''] = decimal.split('.')
  return `${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`
}
