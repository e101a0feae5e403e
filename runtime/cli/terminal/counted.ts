/** Returns a count with its noun: `1 finding`, `2 findings`. */
export const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : 's'}`
