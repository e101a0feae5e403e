/** Lines as one text; what is no text does not apply, and is left out. */
export const inLines = (lines: readonly (string | false | null | undefined)[]): string =>
  lines.filter((line) => typeof line === 'string').join('\n')
