/** What the type and the name of an entitlement say of it: patterns without case that PostgreSQL reads alike. */

/** An entitlement that lets its holder administer something, by its type and name. */
export const PRIVILEGED_NAMES =
  '(^|[^a-z])(super[ _-]?)?(admin(istrator)?s?|owners?|root|superusers?|sudo)($|[^a-z])'

/** One that is paid for, by its type. */
export const LICENCE_TYPES = 'licen[cs]e|(^|_)seats?($|_)|subscription'
