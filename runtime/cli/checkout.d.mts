/**
 * Returns the file to run with the given Node: the bundled sources, or the first source file if they cannot
 * be bundled.
 */
export function mainOfCheckout(node: string): string
