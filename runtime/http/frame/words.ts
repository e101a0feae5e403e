/** What pages make of data in any language: names and moments. */

type Named = { given_name: string; family_name: string; email: string }

/** What a person is called. */
export const nameOf = ({ given_name, family_name, email }: Named): string =>
  `${given_name} ${family_name}`.trim() || email

/** Two letters for a picture of a person or an app; decoration beside the name. */
export function initials(name: string): string {
  const words = name.split(/[\s@._-]+/).filter((one) => /^[\p{L}\p{N}]/u.test(one))
  const letters = words.slice(0, 2).map((one) => [...one][0] ?? '')
  return letters.join('').toUpperCase() || '?'
}

/** The core interface writes some moments without a zone; all are UTC. */
export const parseMoment = (text: string): Date =>
  new Date(/[zZ]$|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`)
