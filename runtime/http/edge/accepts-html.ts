/** Distinguishes browsers from programs by their Accept header. */

/** Reports whether the client accepts HTML by name: browsers do, most programs do not. */
export const takesHtml = (accepted = ''): boolean =>
  typesIn(accepted).some(({ type, weight }) => type === 'text/html' && weight > 0)

/**
 * Reports whether a browser opens a page. Browsers also accept XHTML, which programs do not. A client that
 * prefers HTML to everything else counts as a browser. A program that accepts HTML and images alike (Java's
 * HttpURLConnection) does not.
 */
export function opensPage(accepted = ''): boolean {
  if (!takesHtml(accepted)) return false
  const types = typesIn(accepted)
  return (
    types.some(({ type }) => type === 'application/xhtml+xml') ||
    types.every(({ type, weight }) => type === 'text/html' || weight < 1)
  )
}

const typesIn = (accepted: string) =>
  accepted
    .toLowerCase()
    .split(',')
    .slice(0, 20)
    .map((one) => {
      const [type = '', ...params] = one.split(';').map((part) => part.trim())
      const weight = params.find((param) => param.startsWith('q='))
      return { type, weight: weight === undefined ? 1 : Number(weight.slice(2)) }
    })
