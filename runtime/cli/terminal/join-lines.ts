/** Joins lines to one text. Omits values that are not strings. */
export const inLines = (lines: readonly (string | false | null | undefined)[]): string =>
  lines.filter((line) => typeof line === 'string').join('\n')
