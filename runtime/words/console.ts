/** CONSOLE_WORDS: page of the console, or what it changes -> all its words. */

import { CONSOLE_ACCESS } from './console-access.ts'
import { CONSOLE_BACKGROUND } from './console-background.ts'
import { CONSOLE_CONNECT } from './console-connect.ts'
import { CONSOLE_CONNECTORS } from './console-connectors.ts'
import { CONSOLE_COST } from './console-cost.ts'
import { CONSOLE_EVENTS } from './console-events.ts'
import { CONSOLE_OFFBOARDING } from './console-offboarding.ts'
import { CONSOLE_OVERVIEW } from './console-overview.ts'
import { CONSOLE_PEOPLE } from './console-people.ts'
import { CONSOLE_POLICIES } from './console-policies.ts'
import { CONSOLE_REVIEWS } from './console-reviews.ts'
import { CONSOLE_SETTINGS } from './console-settings.ts'
import { CONSOLE_STORE } from './console-store.ts'
import { CONSOLE_TABLES } from './console-tables.ts'
import { CONSOLE_VERSIONS } from './console-versions.ts'
import { CONSOLE_FINDINGS } from './findings.ts'
import type { Words } from './say.ts'

export const CONSOLE_WORDS = {
  ...CONSOLE_OVERVIEW,
  ...CONSOLE_ACCESS,
  ...CONSOLE_PEOPLE,
  ...CONSOLE_OFFBOARDING,
  ...CONSOLE_POLICIES,
  ...CONSOLE_REVIEWS,
  ...CONSOLE_CONNECT,
  ...CONSOLE_STORE,
  ...CONSOLE_CONNECTORS,
  ...CONSOLE_VERSIONS,
  ...CONSOLE_BACKGROUND,
  ...CONSOLE_TABLES,
  ...CONSOLE_EVENTS,
  ...CONSOLE_SETTINGS,
  ...CONSOLE_COST,
  ...CONSOLE_FINDINGS,
} as const

export type ConsoleWords = Words<typeof CONSOLE_WORDS>
