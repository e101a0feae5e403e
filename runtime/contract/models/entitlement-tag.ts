/**
 * Patterns that classify an entitlement by its type and name. They ignore case and mean the same in
 * PostgreSQL.
 */

/** Matches an entitlement with administrative rights, by its type and name. */
export const PRIVILEGED_NAMES =
  '(^|[^a-z])(super[ _-]?)?(admin(istrator)?s?|owners?|root|superusers?|sudo)($|[^a-z])'

/** Matches a paid entitlement, by its type. */
export const LICENCE_TYPES = 'licen[cs]e|(^|_)seats?($|_)|subscription'
