/** Telling people from programs. */

/** Whether HTML is named as something to answer with: browsers do, and most programs do not. */
export const takesHtml = (accepted = ''): boolean =>
  typesIn(accepted).some(({ type, weight }) => type === 'text/html' && weight > 0)

/**
 * Whether a browser opens a page: it names XHTML beside HTML, which no program does. Whoever wants nothing as much as HTML
 * reads it, too. A program that takes HTML as well as pictures (Java's HttpURLConnection) opens none.
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
