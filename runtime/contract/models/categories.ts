/** What kind of work an app is for (core-interface.md section 1.17). */

/** Every category, in the order in which they are listed. */
export const CATEGORIES = [
  'Accounting & Finance',
  'Marketing & Analytics',
  'Content & Social Media',
  'Sales & Support',
  'Design & Creativity',
  'IT & Security',
  'Developers',
  'HR & Learning',
  'Office & Legal',
  'Communication',
  'Collaboration',
  'Commerce & Marketplaces',
  'Other',
  'Internal',
] as const
export type Category = (typeof CATEGORIES)[number]

/** `HR & Learning` -> `HR_AND_LEARNING`, which clients and manifests write as well. */
export const categoryCode = (text: string): string =>
  text
    .trim()
    .toUpperCase()
    .replaceAll('&', 'AND')
    .replace(/[\s_]+/g, '_')

/** The category that is meant by a label or a code, or null. */
export function categoryOf(text: string): Category | null {
  const code = categoryCode(text)
  return CATEGORIES.find((label) => categoryCode(label) === code) ?? null
}

/** The category of a connector, of all that its manifest names; null where it names none. */
export function firstCategory(codes: readonly string[]): Category | null {
  const known = codes.map(categoryOf).find((category) => category !== null)
  return known ?? (codes.length > 0 ? 'Other' : null)
}
