/** Texts that pages derive from data in any language: names and moments. */

type Named = { given_name: string; family_name: string; email: string }

/** Returns the name of a person. */
export const nameOf = ({ given_name, family_name, email }: Named): string =>
  `${given_name} ${family_name}`.trim() || email

/** Returns two letters for the avatar of a person or an app. It decorates the name next to it. */
export function initials(name: string): string {
  const words = name.split(/[\s@._-]+/).filter((one) => /^[\p{L}\p{N}]/u.test(one))
  const letters = words.slice(0, 2).map((one) => [...one][0] ?? '')
  return letters.join('').toUpperCase() || '?'
}

/** Parses a moment. The core interface writes some without a zone; all are in UTC. */
export const parseMoment = (text: string): Date =>
  new Date(/[zZ]$|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`)
