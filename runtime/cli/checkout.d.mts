/** The file to run with the given Node: the sources as one program, or the first of them where that cannot be made. */
export function mainOfCheckout(node: string): string
