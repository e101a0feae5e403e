import type { ActivityEvent } from '../../../../runtime/contract/models/activity-event.ts'

/** Returns an event that no part of the product records, so that a test finds its own entries by type. */
export const eventNamed = (name: string): ActivityEvent =>
  // The cast: the type has the product's events only.
  name as ActivityEvent
