/** Categories of apps by kind of work (core-interface.md section 1.17). */

/** Every category, in display order. */
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

/**
 * Returns the code of a label: `HR & Learning` -> `HR_AND_LEARNING`. Clients and manifests may use either.
 */
export const categoryCode = (text: string): string =>
  text
    .trim()
    .toUpperCase()
    .replaceAll('&', 'AND')
    .replace(/[\s_]+/g, '_')

/** Returns the category with this label or code, or null. */
export function categoryOf(text: string): Category | null {
  const code = categoryCode(text)
  return CATEGORIES.find((label) => categoryCode(label) === code) ?? null
}

/** Returns the category of a connector from the codes in its manifest, or null if there are none. */
export function firstCategory(codes: readonly string[]): Category | null {
  const known = codes.map(categoryOf).find((category) => category !== null)
  return known ?? (codes.length > 0 ? 'Other' : null)
}
