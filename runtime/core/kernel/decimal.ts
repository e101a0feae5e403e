/** Decimal numbers as PostgreSQL gives them: texts, so that no amount of money is rounded. */

/** A decimal number with the digits that it needs, two at least behind the point. */
export const shortened = (decimal: string): string => {
  const [whole = '0', fraction = ''] = decimal.split('.')
  return `${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`
}
