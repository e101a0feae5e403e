/** JSON as printed by commands. */
import { visible } from '../../observe/visible.ts'

/**
 * Returns a value as JSON without characters that a terminal would act on. JSON escapes only the control
 * characters of ASCII; escaping the others too does not change its meaning.
 *
 * @param indent Number of spaces per level, or 0 for a single line.
 */
export const terminalJson = (value: unknown, indent = 2): string =>
  visible(JSON.stringify(value, null, indent))
